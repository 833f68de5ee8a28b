/** How what was answered goes back to its session; `keep` names the file in which the rule of an option is kept. */
import type { Answer, Ask } from "keel/protocol";
import type { RuleFile } from "keel/view";
import type { World } from "../live/world.ts";

export type AnswerAsk = (answer: Answer, keep?: RuleFile) => Promise<void>;

export async function answerAsk(
  world: World,
  { session, ask }: { readonly session: string; readonly ask: Ask },
  answer: Answer,
  keep?: RuleFile,
): Promise<void> {
  const rule = ask.options.find(({ id }) => id === answer.option)?.rule;
  if (keep !== undefined && rule !== undefined) await world.client.keepRule({ session, rule, to: keep });
  await world.submit(session, { type: "answer", askId: ask.id, answer });
}
