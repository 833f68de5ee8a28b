import { expect, test } from "vitest";
import { fault } from "./fault.ts";

test("a hint names what the fault is about", () => {
  const { hint } = fault("log_unwritable", { path: "/home/me/.keel", reason: "the disk is full" });
  expect(hint).toContain("make /home/me/.keel writable");
});
