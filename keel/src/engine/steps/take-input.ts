/** Takes the next input into the conversation: as the start of a turn, or as steering of the running one. */

import { sayTask } from "../../core/model-text.ts";
import { inputFor, type Step } from "../../core/next-step.ts";
import { modelOf, type SessionState } from "../../core/state/state.ts";
import { hasNews } from "../../core/state/task-state.ts";
import type { Input } from "../../protocol/event/durable.ts";
import { tellChangedFiles } from "../changed-files.ts";
import { hookContextOf } from "../consult.ts";
import type { StepContext } from "../step-context.ts";
import { briefStart } from "./brief-model.ts";

export async function takeInput(
  work: StepContext,
  step: Extract<Step, { kind: "take-input" }>,
): Promise<void> {
  const input = inputFor(work.state, step.which);
  if (!input) return;
  // Here already: whoever hears of the turn may then say which servers there are.
  await work.parts.toolbox?.ready(work.signal);
  const begun = await begin(work);
  const taken = [...heldBefore(work.state, input), input];
  const whole = { ...input, content: taken.flatMap(({ content }) => content) };
  const { block, context, title } = await work.parts.hooks.input(whole, hookContextOf(work));
  // Meanwhile it may have been taken back, or the turn stopped: then it stays where it is.
  const isTakenBack = (): boolean => work.signal.aborted || !work.state.pending.includes(input);
  if (isTakenBack()) return;
  const inputIds = taken.filter((one) => work.state.pending.includes(one)).map(({ id }) => id);
  if (block !== undefined) {
    for (const inputId of inputIds)
      work.record({ type: "input.dropped", inputId, why: "blocked", reason: block });
    return;
  }
  nameSession(work, title);
  // An end that no notice told, because it was no news then or the notice was lost, is told now.
  const news = work.state.tasks.values().filter(hasNews).toArray();
  const words = [
    ...begun,
    ...context,
    ...news.map((task) => `A background task has ended.\n${sayTask(task)}`),
  ];
  const added = {
    ...(words.length > 0 ? { context: words } : {}),
    ...(news.length > 0 ? { tasks: news.map(({ id }) => id) } : {}),
  };
  if (step.which !== "first") return work.record({ type: "input.joined", inputIds, ...added });
  await briefStart(work);
  await tellChangedFiles(work);
  if (isTakenBack()) return;
  work.record({ type: "turn.started", turnId: work.parts.ids.uuid(), inputIds, ...added });
  // Loaded late: most sessions recall nothing.
  if (work.parts.recall) await (await import("./recall.ts")).recallFor(work, whole);
}

/** What asked for no answer goes with the next words of a person. */
function heldBefore({ pending }: SessionState, input: Input): Input[] {
  if (input.from.kind === "hook") return [];
  return pending.slice(0, pending.indexOf(input)).filter(({ when }) => when === "with-next");
}

/** Hooks hear of the session with its first input: nothing runs because a session is only opened. */
async function begin(work: StepContext): Promise<readonly string[]> {
  const { hooks } = work.parts;
  const begins = hooks.begins();
  if (begins === undefined) return [];
  const source = begins === "cleared" ? "clear" : (work.parts.startedAs ?? startOf(work.state));
  const { context, title } = await hooks.start({ source, model: modelOf(work.state) }, hookContextOf(work));
  nameSession(work, title);
  return context;
}

function nameSession(work: StepContext, title: string | undefined): void {
  if (title !== undefined && title !== work.state.settings?.title)
    work.record({ type: "settings.changed", patch: { title }, why: "hook" });
}

const startOf = ({ turns }: SessionState): "resume" | "startup" => (turns > 0 ? "resume" : "startup");
