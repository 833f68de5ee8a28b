/** What a session is doing right now, from its events: enough for a status line. */
import { type Envelope, type EventHandlers, handle } from "../protocol/event/envelope.ts";

export type Activity = {
  readonly state: "idle" | "running" | "asking";
  /** What the running turn waits for. */
  readonly doing: Doing;
  readonly turnId: string | null;
  readonly openAsks: readonly string[];
  readonly waitingInputs: readonly string[];
  /** When the session last went from idle to work, or back. */
  readonly since: number;
};

export type Doing =
  | { readonly kind: "nothing" }
  | { readonly kind: "asking-model"; readonly model: string }
  | { readonly kind: "writing"; readonly model: string }
  | { readonly kind: "compacting" }
  | { readonly kind: "running-tools"; readonly calls: readonly { callId: string; tool: string }[] }
  | {
      readonly kind: "retrying";
      readonly attempt: number;
      readonly mostAttempts: number;
      readonly until: number;
      readonly why: string;
    };

const nothing: Doing = { kind: "nothing" };

export const idle: Activity = {
  state: "idle",
  doing: nothing,
  turnId: null,
  openAsks: [],
  waitingInputs: [],
  since: 0,
};

export function foldActivity(before: Activity, event: Envelope): Activity {
  if (event.origin && event.type !== "ask.opened" && event.type !== "ask.closed") return before;
  const next = handle(changes, event, before) ?? before;
  if (next === before) return before;
  const state = stateOf(next);
  const wasIdle = before.state === "idle";
  return { ...next, state, since: wasIdle === (state === "idle") ? before.since : event.at };
}

export const activityOf = (envelopes: Iterable<Envelope>): Activity =>
  Iterator.from(envelopes).reduce(foldActivity, idle);

function stateOf({ turnId, openAsks, doing }: Activity): Activity["state"] {
  if (openAsks.length > 0) return "asking";
  return turnId !== null || doing.kind === "compacting" ? "running" : "idle";
}

const doing = (activity: Activity, now: Doing): Activity => ({ ...activity, doing: now });
const doingNothing = (_: unknown, activity: Activity): Activity => doing(activity, nothing);

/** Few events say what a session does at the moment; any other, also a new one, leaves it as it is. */
const changes: EventHandlers<Envelope, [activity: Activity], Activity> = {
  "input.accepted": ({ input }, activity) => ({
    ...activity,
    waitingInputs: [...activity.waitingInputs, input.id],
  }),
  "input.dropped": ({ inputId }, activity) => taken(activity, [inputId]),
  "input.joined": ({ inputIds }, activity) => taken(activity, inputIds),
  "turn.started": ({ turnId, inputIds }, activity) => ({
    ...taken(activity, inputIds),
    turnId,
    doing: nothing,
  }),
  "model.started": ({ purpose, model }, activity) =>
    doing(activity, purpose === "compaction" ? { kind: "compacting" } : { kind: "asking-model", model }),
  "reply.started": ({ model }, activity) => doing(activity, { kind: "writing", model }),
  "reply.withdrawn": (_, activity) =>
    activity.doing.kind === "writing" ? doing(activity, nothing) : activity,
  // It may be heard before the failure that it waits for is on disk; only the next request ends it.
  "retry.waiting": ({ attempt, mostAttempts, fault, at, delayMs }, activity) =>
    doing(activity, { kind: "retrying", attempt, mostAttempts, until: at + delayMs, why: fault.message }),
  "model.failed": (_, activity) => (activity.doing.kind === "retrying" ? activity : doing(activity, nothing)),
  "model.finished": doingNothing,
  "context.compacted": doingNothing,
  "tool.started": ({ callId, tool }, activity) =>
    doing(activity, { kind: "running-tools", calls: [...callsOf(activity), { callId, tool }] }),
  "tool.finished": (event, activity) => {
    const calls = callsOf(activity).filter(({ callId }) => callId !== event.callId);
    return doing(activity, calls.length > 0 ? { kind: "running-tools", calls } : nothing);
  },
  "ask.opened": ({ ask }, activity) => ({ ...activity, openAsks: [...activity.openAsks, ask.id] }),
  "ask.closed": ({ askId }, activity) => ({ ...activity, openAsks: without(activity.openAsks, [askId]) }),
  "turn.finished": (_, activity) => ({ ...activity, turnId: null, openAsks: [], doing: nothing }),
};

const taken = (activity: Activity, inputIds: readonly string[]): Activity => ({
  ...activity,
  waitingInputs: without(activity.waitingInputs, inputIds),
});

const callsOf = ({ doing }: Activity) => (doing.kind === "running-tools" ? doing.calls : []);

const without = (ids: readonly string[], gone: readonly string[]): string[] =>
  ids.filter((id) => !gone.includes(id));
