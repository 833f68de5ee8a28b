import { expect, test } from "vitest";
import { fault, toFault } from "./fault.ts";

test("a hint names what the fault is about", () => {
  const { hint } = fault("log_unwritable", { path: "/home/me/.keel", reason: "the disk is full" });
  expect(hint).toContain("make /home/me/.keel writable");
});

test("a fault does not compile without what its sentence names, nor with what nobody reads", () => {
  // @ts-expect-error: the sentence names a reason.
  expect(fault("usage").message).toBe("unknown");
  // @ts-expect-error: the hint names a path.
  expect(fault("log_unwritable", { reason: "full" }).hint).toContain("unknown");
  // @ts-expect-error: nothing names a color.
  expect(fault("stream_cut", { color: "red" }).message).toBe("The reply broke off before its end.");
  expect(fault("stream_cut", { requestId: "r1" }).detail).toEqual({ requestId: "r1" });
});

test("a file too many is said as that, not as unexpected", () => {
  const thrown = Object.assign(new Error("EMFILE: too many open files, open 'part.cjs'"), { code: "EMFILE" });
  expect(toFault(thrown)).toMatchObject({ code: "files_used_up", cause: thrown });
  expect(toFault(Object.assign(new Error("EIO"), { code: "EIO" })).code).toBe("unexpected");
});
