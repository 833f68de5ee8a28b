/** A hook of settings that counts: so many calls or inputs in so many seconds, and what is more is refused with a sentence. */
import type { HookEvent, HookInput } from "../protocol/hook.ts";
import type { CommonHookFields } from "./model-hooks.ts";
import type { Hook } from "./run.ts";

/** When what was let through happened, by the entry that counts it: sessions of one process count together. */
export type RateCounts = {
  readonly taken: Map<string, number[]>;
  /** Milliseconds that only grow. */
  now(): number;
};

const usualSeconds = 60;
const limited: readonly HookEvent[] = ["PreToolUse", "UserPromptSubmit"];

export function rateHook(
  entry: Readonly<Record<string, unknown>>,
  common: CommonHookFields & { readonly matcher?: string | undefined },
  { taken, now }: RateCounts,
): Hook | string {
  const { most, seconds = usualSeconds } = entry;
  const { event, matcher, isFor } = common;
  if (!isPositive(most) || !Number.isInteger(most))
    return "it does not say how many are let through (`most`).";
  if (!isPositive(seconds)) return "its `seconds` are no number above 0.";
  if (!limited.includes(event)) return `a rate is limited at ${limited.join(" and ")} only.`;
  const key = JSON.stringify([event, matcher ?? "", entry["if"] ?? "", most, seconds]);
  return {
    ...common,
    name: `rate ${most} in ${seconds} s`,
    // What the engine itself says, such as the end of a task, is nobody's request.
    isFor: (input) => isRequest(input) && (isFor?.(input) ?? true),
    async call(input) {
      const at = now();
      const recent = (taken.get(key) ?? []).filter((before) => at - before < seconds * 1_000);
      const [oldest] = recent;
      if (recent.length < most || oldest === undefined) {
        taken.set(key, [...recent, at]);
        return undefined;
      }
      taken.set(key, recent);
      const wait = Math.max(1, Math.ceil((oldest + seconds * 1_000 - at) / 1_000));
      const what = "tool_name" in input ? `calls of ${matcher ? input.tool_name : "tools"}` : "requests";
      return {
        decision: "block",
        reason: `The limit of ${most} ${what} in ${seconds} s is reached. The next one is let through in ${wait} s.`,
      };
    },
  };
}

const isPositive = (value: unknown): value is number => typeof value === "number" && value > 0;

const isRequest = (input: HookInput): boolean => !("source" in input) || input.source === "user";
