/** What is shown of an agent in a list, from the events of its session: one fold, whether it is open or only stored. */
import { oneLine, shorten } from "../../kernel/text.ts";
import { foldBill } from "../../protocol/bill.ts";
import { type Envelope, type EventHandlers, handle, isDurable } from "../../protocol/event/envelope.ts";
import { type ItemizedBill, noBill } from "../../protocol/usage.ts";
import type { WorkerEntry } from "../../protocol/workspace.ts";
import { type Activity, foldActivity, idle } from "../../view/activity.ts";

export type AgentLine = {
  readonly activity: Activity;
  readonly bill: ItemizedBill;
  readonly model?: string | undefined;
  readonly lastWords?: string | undefined;
  /** What the last turn failed with. */
  readonly failure?: string | undefined;
};

export const noLine: AgentLine = { activity: idle, bill: noBill };

/** As much as a line of a list shows. */
const maxWords = 200;

export function foldAgentLine(before: AgentLine, event: Envelope): AgentLine {
  const activity = foldActivity(before.activity, event);
  const bill = isDurable(event) && !event.origin ? foldBill(before.bill, event) : before.bill;
  const told = event.origin ? before : (handle(changes, event, before) ?? before);
  if (told === before && activity === before.activity && bill === before.bill) return before;
  return { ...told, activity, bill };
}

const changes: EventHandlers<Envelope, [facts: AgentLine], AgentLine> = {
  "session.opened": ({ settings }, facts) => ({ ...facts, model: settings.model }),
  "settings.changed": ({ patch }, facts) =>
    patch.model === undefined ? facts : { ...facts, model: patch.model },
  "model.finished": ({ content }, facts) => {
    const words = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
    const line = words.trimEnd().split("\n").at(-1) ?? "";
    return line === "" ? facts : { ...facts, lastWords: shorten(oneLine(line), maxWords) };
  },
  "turn.started": (_, facts) => ({ ...facts, failure: undefined }),
  "turn.finished": ({ fault }, facts) => ({ ...facts, failure: fault?.message }),
};

/** `isOpen`: a turn that an end of the server cut off is not at work until the session is used again. */
export function entryFacts(
  { activity, bill, model, lastWords, failure }: AgentLine,
  { isOpen }: { isOpen: boolean },
): Pick<WorkerEntry, "activity" | "lastWords" | "costUsd" | "asks" | "model" | "failure"> {
  const { state, openAsks } = activity;
  const now = state === "running" ? (isOpen ? "active" : "idle") : state;
  return {
    activity: now === "idle" && failure !== undefined ? "failed" : now,
    costUsd: bill.costUsd,
    asks: openAsks.length,
    ...(model === undefined ? {} : { model }),
    ...(lastWords === undefined ? {} : { lastWords }),
    ...(failure === undefined ? {} : { failure }),
  };
}
