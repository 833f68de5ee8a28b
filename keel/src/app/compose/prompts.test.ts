import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { systemPrompt } from "./prompts.ts";

const facts = { cwd: "/srv/a", roots: ["/srv/a"], platform: "linux" };

test("what is the same everywhere comes first and byte for byte the same", () => {
  const [here, place = ""] = systemPrompt(facts);
  const [there] = systemPrompt({ ...facts, cwd: "/elsewhere", append: "more" });
  expect(here).toBe(there);
  expect(here).not.toContain("/srv/a");
  expect(place).toContain("Working directory: /srv/a");
  expect(place).not.toContain("Additional directories");
});

test("further folders, a replacement and an addition stand in their places", () => {
  expect(systemPrompt({ ...facts, roots: ["/srv/a", "/lib"] })[1]).toContain("Additional directories: /lib");
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
  expect(kept).not.toContain("# Answers");
  expect(kept).toContain("# Working");
  expect(kept.slice(0, 200)).toBe(usual.slice(0, 200));
  const [bare = ""] = systemPrompt({ ...facts, style: { ...style, keepsWork: false } });
  expect(bare).not.toContain("# Working");
  expect(bare).toContain("# Safety");
});

test("a coordinator has a prompt of its own, which is about handing out work", () => {
  verifies("S4.56");
  const [usual = ""] = systemPrompt(facts);
  const [own = "", place] = systemPrompt({ ...facts, role: "coordinator" });
  expect(own).toContain("# Coordinating");
  for (const tool of ["Agent", "SendMessage", "TaskStop"]) expect(own).toContain(tool);
  for (const section of ["# Working", "# Tools", "# Git"]) {
    expect(usual).toContain(section);
    expect(own).not.toContain(section);
  }
  expect(place).toBe(systemPrompt(facts)[1]);
});

test("the place can be left to the conversation, so that the prompt is the same everywhere", () => {
  expect(systemPrompt({ ...facts, location: "elsewhere" })).toEqual(
    systemPrompt({ ...facts, cwd: "/b", roots: ["/b"], location: "elsewhere" }),
  );
});
