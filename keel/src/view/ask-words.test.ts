import { expect, test } from "vitest";
import type { Ask, AskOption } from "../protocol/ask.ts";
import type { Claim } from "../protocol/tool.ts";
import { askOrigin, askTitle, offeredOptions, optionLabel, sayExplanation } from "./ask-words.ts";

const once: AskOption = { id: "once", label: "Yes, once", verdict: "allow" };
const always: AskOption = { id: "always", label: "Always", verdict: "allow", rule: "Bash(npm test *)" };
const no: AskOption = { id: "no", label: "No", verdict: "deny" };
const say: AskOption = { id: "say", label: "No, because", verdict: "deny", takesWords: true };
const options = [once, always, no, say];
const ask: Ask = { id: "1", kind: "permission", title: "Bash", body: { kind: "text", text: "" }, options };
const claiming = (...actions: Claim["action"][]): Ask => ({
  ...ask,
  tool: "Thing",
  claims: actions.map((action) => ({ action, target: "x" })),
});

test("a permission is called by the weightiest thing that would happen, and by its tool only where nothing is known", () => {
  expect(askTitle(claiming("read", "execute"))).toBe("Run a command?");
  expect(askTitle(claiming("read", "write"))).toBe("Change a file?");
  expect(askTitle(claiming("fetch"))).toBe("Fetch a page?");
  expect(askTitle(claiming("read"))).toBe("Read a file?");
  expect(askTitle(claiming("delegate"))).toBe("Start an agent?");
  expect(askTitle(claiming("use"))).toBe("Use Thing?");
  expect(askTitle({ ...ask, kind: "plan", title: "Go on with\nthis plan?" })).toBe("Go on with this plan?");
});

test("the buttons of a permission are verbs; two ways to say no are one, with words behind it", () => {
  const offered = offeredOptions(ask);
  expect(offered.map(({ id }) => id)).toEqual(["once", "always", "say"]);
  expect(offered.map((option) => optionLabel(option, "permission"))).toEqual([
    "Allow once",
    "Allow npm test * here",
    "Say no …",
  ]);
  const site = { ...always, rule: "WebFetch(domain:a.org)" };
  expect(optionLabel(site, "permission")).toBe("Allow a.org here");
  expect(optionLabel({ ...always, rule: "mcp__mail__send" }, "permission")).toBe(
    "Allow mcp__mail__send here",
  );
  expect(offeredOptions({ ...ask, kind: "plan" })).toEqual(options);
  expect(optionLabel(once, "plan")).toBe("Yes, once");
});

test("nothing that comes from elsewhere hides in the words", () => {
  const hidden = { ...always, rule: "Bash(rm\u001b[2K\u202e -rf *)" };
  expect(optionLabel(hidden, "permission")).toBe("Allow rm⟨ESC⟩[2K⟨U+202E⟩ -rf * here");
  const origin = {
    agentId: "a",
    parentCallId: "c",
    kind: "review",
    depth: 1,
    description: "look\u0007\nhere",
  };
  expect(askOrigin({ ...ask, origin })).toMatch(/^agent look⟨.+⟩ here$/);
  expect(askOrigin(ask)).toBeUndefined();
});

test("what the policy found in a command is said in words", () => {
  const flags = { readOnly: false, writesOutsideCwd: true, network: true, destructive: false };
  const found = {
    verdict: "ask" as const,
    because: "",
    programs: ["sudo"],
    wrapped: ["rm"],
    flags,
    commands: [],
  };
  expect(sayExplanation(found)).toEqual([
    "runs sudo, which start rm",
    "writes outside the folder, uses the network",
  ]);
});
