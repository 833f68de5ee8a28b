/**
 * Several opinions become one, by one rule: the strictest verdict counts, all words are joined, one stop is enough.
 * Pure, and in the order in which the hooks are declared.
 */
import { type Json, sameJson } from "../kernel/json.ts";
import type { Answer } from "../protocol/ask.ts";
import type { Opinion } from "./opinion.ts";

export type Merged = {
  readonly verdict?: Opinion["verdict"];
  readonly reason: string;
  readonly input?: Json | undefined;
  readonly output?: Json | undefined;
  readonly context: readonly string[];
  readonly stop?: string | undefined;
  readonly block?: string | undefined;
  readonly answer?: Answer | undefined;
  readonly title?: string | undefined;
};

const strictestFirst = ["deny", "defer", "ask", "allow"] as const;

export function merge(opinions: readonly Opinion[]): Merged {
  const input = opinions.findLast((opinion) => opinion.input !== undefined)?.input;
  const counted = opinions.filter((opinion) => opinion.verdict !== "allow" || sawInput(opinion, input));
  const verdict = strictestFirst.find((known) => counted.some((opinion) => opinion.verdict === known));
  const reasons = counted.filter((opinion) => opinion.verdict === verdict && verdict !== undefined);
  const blocks = opinions.flatMap(({ block }) => block ?? []);
  const answers = opinions.flatMap(({ answer }) => answer ?? []);
  return {
    verdict,
    reason: reasons.flatMap(({ reason }) => reason ?? []).join("\n") || "A hook decided so.",
    input,
    output: opinions.findLast(({ output }) => output !== undefined)?.output,
    context: opinions.flatMap(({ context }) => context ?? []),
    stop: opinions.find(({ stop }) => stop !== undefined)?.stop,
    block: blocks.length > 0 ? blocks.join("\n") : undefined,
    answer: answers.find((answer) => answer.verdict === "deny") ?? answers.at(-1),
    title: opinions.findLast(({ title }) => title !== undefined)?.title,
  };
}

/** Who allowed one input has not allowed what another hook made of it. */
function sawInput(opinion: Opinion, input: Json | undefined): boolean {
  return input === undefined || (opinion.input !== undefined && sameJson(opinion.input, input));
}
