import { describe, expect, test } from "vitest";
import type { HookInput } from "../protocol/hook.ts";
import { rateHook } from "./rate-hook.ts";
import type { Hook } from "./run.ts";

function counting() {
  const time = { ms: 0 };
  return { time, counts: { taken: new Map<string, number[]>(), now: () => time.ms } };
}

const call = (tool: string): HookInput => ({
  hook_event_name: "PreToolUse",
  session_id: "s",
  transcript_path: "",
  cwd: "/",
  tool_name: tool,
  tool_input: {},
  tool_use_id: "c",
});

const said = (source: string): HookInput => ({
  hook_event_name: "UserPromptSubmit",
  session_id: "s",
  transcript_path: "",
  cwd: "/",
  prompt: "go",
  source,
});

const context = {
  callId: undefined,
  signal: new AbortController().signal,
  report: () => undefined,
  progress: () => undefined,
};

const must = (hook: Hook | string): Hook => {
  if (typeof hook === "string") throw new Error(hook);
  return hook;
};

describe("a hook that limits a rate", () => {
  test("lets so many through, refuses what is more with a sentence, and counts anew when time has passed", async () => {
    const { time, counts } = counting();
    const hook = must(rateHook({ most: 2, seconds: 10 }, { event: "PreToolUse", matcher: "Bash" }, counts));
    const again = must(rateHook({ most: 2, seconds: 10 }, { event: "PreToolUse", matcher: "Bash" }, counts));
    expect(await hook.call(call("Bash"), context)).toBeUndefined();
    time.ms = 4_000;
    // Another session of the same process counts along.
    expect(await again.call(call("Bash"), context)).toBeUndefined();
    time.ms = 5_000;
    expect(await hook.call(call("Bash"), context)).toEqual({
      decision: "block",
      reason: "The limit of 2 calls of Bash in 10 s is reached. The next one is let through in 5 s.",
    });
    // What was refused does not count, and only the first is over by now.
    time.ms = 10_000;
    expect(await again.call(call("Bash"), context)).toBeUndefined();
    expect(await hook.call(call("Bash"), context)).toMatchObject({ decision: "block" });
  });

  test("counts what a person says and not what the engine does, and two limits apart", async () => {
    const { counts } = counting();
    const inputs = must(rateHook({ most: 1 }, { event: "UserPromptSubmit" }, counts));
    const calls = must(rateHook({ most: 1 }, { event: "PreToolUse" }, counts));
    expect([inputs.isFor?.(said("user")), inputs.isFor?.(said("system"))]).toEqual([true, false]);
    expect(await inputs.call(said("user"), context)).toBeUndefined();
    expect(await calls.call(call("Read"), context)).toBeUndefined();
    expect(await inputs.call(said("user"), context)).toMatchObject({
      reason: expect.stringContaining("1 requests in 60 s"),
    });
    expect(await calls.call(call("Bash"), context)).toMatchObject({
      reason: expect.stringContaining("1 calls of tools"),
    });
  });

  test("is left out where it cannot be understood", () => {
    const { counts } = counting();
    for (const wrong of [{}, { most: 0 }, { most: 1.5 }, { most: 1, seconds: -1 }, { most: "3" }])
      expect(typeof rateHook(wrong, { event: "PreToolUse" }, counts), JSON.stringify(wrong)).toBe("string");
    expect(rateHook({ most: 1 }, { event: "Stop" }, counts)).toContain("PreToolUse and UserPromptSubmit");
  });
});
