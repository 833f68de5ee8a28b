import { expect, test } from "vitest";
import { systemPrompt } from "./prompts.ts";

const facts = { cwd: "/work/a", roots: ["/work/a"], platform: "linux", date: "2026-01-31" };

test("what is the same everywhere comes first and byte for byte the same", () => {
  const [here, place = ""] = systemPrompt(facts);
  const [there] = systemPrompt({ ...facts, cwd: "/elsewhere", date: "2030-12-24", append: "more" });
  expect(here).toBe(there);
  expect(here).not.toContain("/work/a");
  expect(place).toContain("Working folder: /work/a");
  expect(place).not.toContain("Further folders");
});

test("further folders, a replacement and an addition stand in their places", () => {
  expect(systemPrompt({ ...facts, roots: ["/work/a", "/lib"] })[1]).toContain("Further folders: /lib");
  expect(systemPrompt({ ...facts, append: " at the end " }).at(-1)).toBe("at the end");
  expect(systemPrompt({ ...facts, replace: "only this" })).toEqual(["only this"]);
  expect(systemPrompt({ ...facts, replace: "this", append: "that" })).toEqual(["this", "that"]);
  expect(systemPrompt({ ...facts, replace: "" })).toEqual([]);
});
