import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { systemPrompt } from "./prompts.ts";

const facts = { cwd: "/srv/a", roots: ["/srv/a"], platform: "linux" };

test("what is the same everywhere comes first and byte for byte the same", () => {
  const [here, place = ""] = systemPrompt(facts);
  const [there] = systemPrompt({ ...facts, cwd: "/elsewhere", append: "more" });
  expect(here).toBe(there);
  expect(here).not.toContain("/srv/a");
  expect(place).toContain("Working folder: /srv/a");
  expect(place).not.toContain("Further folders");
});

test("further folders, a replacement and an addition stand in their places", () => {
  expect(systemPrompt({ ...facts, roots: ["/srv/a", "/lib"] })[1]).toContain("Further folders: /lib");
  expect(systemPrompt({ ...facts, append: " at the end " }).at(-1)).toBe("at the end");
  expect(systemPrompt({ ...facts, replace: "only this" })).toEqual(["only this"]);
  expect(systemPrompt({ ...facts, replace: "this", append: "that" })).toEqual(["this", "that"]);
  expect(systemPrompt({ ...facts, replace: "" })).toEqual([]);
});

test("a style stands in the place of what is said about answers, and may replace what is said about the work", () => {
  verifies("S4.42");
  const [usual = ""] = systemPrompt(facts);
  const style = { name: "x", description: "", text: "# In verse", keepsWork: true };
  const [kept = ""] = systemPrompt({ ...facts, style });
  expect(kept).toContain("# In verse");
  expect(kept).not.toContain("# Your answers");
  expect(kept).toContain("# How you work");
  expect(kept.slice(0, 200)).toBe(usual.slice(0, 200));
  const [bare = ""] = systemPrompt({ ...facts, style: { ...style, keepsWork: false } });
  expect(bare).not.toContain("# How you work");
  expect(bare).toContain("# Care");
});

test("the place can be left to the conversation, so that the prompt is the same everywhere", () => {
  expect(systemPrompt({ ...facts, location: "elsewhere" })).toEqual(
    systemPrompt({ ...facts, cwd: "/b", roots: ["/b"], location: "elsewhere" }),
  );
});
