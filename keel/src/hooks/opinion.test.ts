import { describe, expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import type { HookEvent } from "../protocol/hook.ts";
import { merge, readOpinion } from "./opinion.ts";
import { matches } from "./run.ts";

const said = (event: HookEvent, output: unknown) => {
  const read = readOpinion(event, output);
  if (!read.ok) throw new Error(read.error);
  return read.value;
};
const decides = (permissionDecision: string, more = {}) =>
  said("PreToolUse", { hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision, ...more } });

describe("several opinions", () => {
  test("the strictest verdict counts, whatever the order", () => {
    verifies("S2.39", "G29");
    const verdicts = ["allow", "ask", "defer", "deny"];
    for (const [strictness, strict] of verdicts.entries()) {
      for (const other of verdicts.slice(0, strictness + 1)) {
        expect(merge([decides(strict), decides(other)]).verdict).toBe(strict);
        expect(merge([decides(other), decides(strict)]).verdict).toBe(strict);
      }
    }
  });

  test("reasons of the verdict and all words are joined in the order of declaration", () => {
    const merged = merge([
      decides("deny", { permissionDecisionReason: "one", additionalContext: "a" }),
      decides("allow", { permissionDecisionReason: "never mind", additionalContext: "b" }),
      decides("deny", { permissionDecisionReason: "two" }),
    ]);
    expect(merged).toMatchObject({ verdict: "deny", reason: "one\ntwo", context: ["a", "b"] });
  });

  test("who allowed one input has not allowed what another hook made of it", () => {
    verifies("S2.40");
    const changed = decides("allow", { updatedInput: { command: "rm" } });
    const changes = said("PreToolUse", {
      hookSpecificOutput: { hookEventName: "PreToolUse", updatedInput: { command: "rm" } },
    });
    expect(merge([decides("allow"), changes])).toMatchObject({
      verdict: undefined,
      input: { command: "rm" },
    });
    expect(merge([changed]).verdict).toBe("allow");
    expect(merge([changed, decides("ask")]).verdict).toBe("ask");
  });

  test("one stop is enough, and a refusal outweighs a leave", () => {
    const stop = said("Stop", { continue: false, stopReason: "enough" });
    expect(merge([{}, stop]).stop).toBe("enough");
    const answers = ["allow", "deny"].map((behavior) =>
      said("PermissionRequest", {
        hookSpecificOutput: { hookEventName: "PermissionRequest", decision: { behavior } },
      }),
    );
    expect(merge(answers).answer?.verdict).toBe("deny");
    expect(merge(answers.toReversed()).answer?.verdict).toBe("deny");
  });

  test("nobody's opinion is none", () => {
    expect(merge([{}, {}])).toMatchObject({ verdict: undefined, context: [], stop: undefined });
  });
});

describe("one opinion", () => {
  test.each([
    ["a text", "yes"],
    ["a list", []],
    ["an unknown decision", { decision: "maybe" }],
    ["an unknown verdict", { hookSpecificOutput: { permissionDecision: "perhaps" } }],
    ["words for another point", { hookSpecificOutput: { hookEventName: "PostToolUse" } }],
    ["an input that is no object", { hookSpecificOutput: { updatedInput: "rm" } }],
    ["an input that is no JSON", { hookSpecificOutput: { updatedInput: { when: new Date(0) } } }],
  ])("%s is none but a failure", (_kind, output) => {
    expect(readOpinion("PreToolUse", output).ok).toBe(false);
  });

  test("an objection before a call, in its older form too, is a refusal", () => {
    for (const output of [
      { decision: "block", reason: "no" },
      { continue: false, stopReason: "no" },
    ])
      expect(said("PreToolUse", output)).toMatchObject({ verdict: "deny", reason: "no" });
  });

  test("an asynchronous hook has no opinion", () => {
    verifies("S2.38");
    expect(said("PreToolUse", { async: true, decision: "block", asyncTimeout: 5 })).toEqual({});
  });
});

describe("a matcher", () => {
  test.each([
    [undefined, "Bash", true],
    ["", "Bash", true],
    ["*", "Bash", true],
    ["Bash", "Bash", true],
    ["Bash", "BashOutput", false],
    ["Edit|Write", "Write", true],
    ["Edit|Write", "MultiEdit", false],
    ["mcp__github__.*", "mcp__github__search", true],
    ["mcp__.*", "Bash", false],
    ["^(Read|Glob)$", "Glob", true],
    ["(", "Bash", false],
    ["Bash", undefined, true],
  ])("%s is for %s: %s", (matcher, subject, expected) => {
    verifies("S2.37");
    expect(matches(matcher, subject)).toBe(expected);
  });
});
