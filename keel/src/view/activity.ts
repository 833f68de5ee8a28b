/** What a session is doing right now, from its events: enough for a status line. */
import type { Envelope } from "../protocol/event/envelope.ts";

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
  const next = changed(before, event);
  if (next === before) return before;
  const state = stateOf(next);
  const wasIdle = before.state === "idle";
  return { ...next, state, since: wasIdle === (state === "idle") ? before.since : event.at };
}

export function activityOf(envelopes: Iterable<Envelope>): Activity {
  let activity = idle;
  for (const envelope of envelopes) activity = foldActivity(activity, envelope);
  return activity;
}

function stateOf({ turnId, openAsks, doing }: Activity): Activity["state"] {
  if (openAsks.length > 0) return "asking";
  return turnId !== null || doing.kind === "compacting" ? "running" : "idle";
}

function changed(activity: Activity, event: Envelope): Activity {
  const doing = (now: Doing): Activity => ({ ...activity, doing: now });
  switch (event.type) {
    case "input.accepted":
      return { ...activity, waitingInputs: [...activity.waitingInputs, event.input.id] };
    case "input.dropped":
      return { ...activity, waitingInputs: without(activity.waitingInputs, [event.inputId]) };
    case "input.joined":
      return { ...activity, waitingInputs: without(activity.waitingInputs, event.inputIds) };
    case "turn.started": {
      const waitingInputs = without(activity.waitingInputs, event.inputIds);
      return { ...activity, turnId: event.turnId, waitingInputs, doing: nothing };
    }
    case "model.started":
      return doing(
        event.purpose === "compaction"
          ? { kind: "compacting" }
          : { kind: "asking-model", model: event.model },
      );
    case "reply.started":
      return doing({ kind: "writing", model: event.model });
    case "reply.withdrawn":
      return activity.doing.kind === "writing" ? doing(nothing) : activity;
    // It may be heard before the failure that it waits for is on disk; only the next request ends it.
    case "retry.waiting": {
      const { attempt, mostAttempts, fault } = event;
      const until = event.at + event.delayMs;
      return doing({ kind: "retrying", attempt, mostAttempts, until, why: fault.message });
    }
    case "model.failed":
      return activity.doing.kind === "retrying" ? activity : doing(nothing);
    case "model.finished":
    case "context.compacted":
      return doing(nothing);
    case "tool.started":
      return doing({
        kind: "running-tools",
        calls: [...callsOf(activity), { callId: event.callId, tool: event.tool }],
      });
    case "tool.finished": {
      const calls = callsOf(activity).filter(({ callId }) => callId !== event.callId);
      return doing(calls.length > 0 ? { kind: "running-tools", calls } : nothing);
    }
    case "ask.opened":
      return { ...activity, openAsks: [...activity.openAsks, event.ask.id] };
    case "ask.closed":
      return { ...activity, openAsks: without(activity.openAsks, [event.askId]) };
    case "turn.finished":
      return { ...activity, turnId: null, openAsks: [], doing: nothing };
    // Few events say what a session does at the moment; any other, also a new one, leaves it as it is.
    default:
      return activity;
  }
}

const callsOf = ({ doing }: Activity) => (doing.kind === "running-tools" ? doing.calls : []);

const without = (ids: readonly string[], gone: readonly string[]): string[] =>
  ids.filter((id) => !gone.includes(id));
