/** Before a turn ends: whether the goal of the session holds. Where it does not, the model is sent back to work. */
import { goalName } from "../../core/fold.ts";
import { goalMissed } from "../../core/model-text.ts";
import { shorten } from "../../kernel/text.ts";
import { text, textOf } from "../../protocol/message.ts";
import { consultOf } from "../consult.ts";
import type { StepContext } from "../step-context.ts";

/** The end of the conversation, as far as a judge of it needs it. */
const shownMessages = 12;
const shownCharacters = 4_000;

export async function tryGoal(work: StepContext): Promise<"missed" | undefined> {
  const { goals, limits, ids } = work.parts;
  const goal = work.state.settings?.goal ?? "";
  if (goal === "" || !goals || work.state.goal.held || work.signal.aborted) return undefined;
  await work.saved();
  const { held, words } = await goals.check(
    { goal, said: saidLast(work), consult: consultOf(work) },
    work.signal,
  );
  if (work.signal.aborted) return undefined;
  const tries = work.state.goal.tries + 1;
  work.record({ type: "goal.tried", goal, try: tries, held, words });
  if (held || tries >= limits.maxGoalTries) return undefined;
  const input = {
    id: ids.uuid(),
    content: [text(goalMissed(goal, words))],
    from: { kind: "hook" as const, name: goalName },
    when: "now" as const,
  };
  work.record({ type: "input.accepted", input });
  return "missed";
}

const saidLast = ({ state: { history } }: StepContext): string =>
  history
    .slice(-shownMessages)
    .map(({ role, content }) => {
      const results = content.map((block) => (block.type === "tool_result" ? textOf(block.content) : ""));
      return `${role}: ${shorten([textOf(content), ...results].join("\n").trim(), shownCharacters)}`;
    })
    .join("\n\n");
