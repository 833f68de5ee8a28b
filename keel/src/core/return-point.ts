/**
 * Going on from an earlier message in the same session. The log keeps all that came after; the fact that is made here
 * says what the conversation was then, as far as it cannot be had from what it is now. Pure.
 */
import { sameJson } from "../kernel/json.ts";
import type { Durable, DurableEvent } from "../protocol/event/durable.ts";
import { type EventHandlers, handle } from "../protocol/event/envelope.ts";
import type { Block, Message } from "../protocol/message.ts";
import { outcomeOf } from "../protocol/outcome.ts";
import { isBlank, sendable, startsCleanly, withoutCalls } from "./context/blocks.ts";
import { batchMessage, callsIn } from "./state/call-state.ts";
import type { SessionState } from "./state/state.ts";

type Returned = Extract<DurableEvent, { type: "context.returned" }>;

/** A message of the log, with the state right behind its event. */
export type ReturnPoint = {
  readonly event: Durable;
  readonly state: SessionState;
  readonly last: Returned["last"];
};

/** The last message that an event gave; undefined for one that gave none. Takes the state before it. */
export const lastMessageOf = (
  event: Durable,
  { pending }: SessionState,
  block?: number,
): Returned["last"] | undefined => handle(messages, event, { pending, block });

type MessageAsked = Pick<SessionState, "pending"> & { readonly block: number | undefined };

const messages: EventHandlers<Durable, [MessageAsked], Returned["last"] | undefined> = {
  "turn.started": lastInput,
  "input.joined": lastInput,
  "model.finished": ({ content, stop }, { block = content.length - 1 }) => {
    const index = content.findLastIndex((part, at) => at <= block && sendable([part], stop).length > 0);
    return index < 0 ? undefined : { kind: "reply", block: index };
  },
  "tool.finished": (event) =>
    outcomeOf(event).kind === "deferred" ? undefined : { kind: "result", callId: event.callId },
  "context.compacted": () => ({ kind: "summary" }),
};

function lastInput(
  { inputIds }: { readonly inputIds: readonly string[] },
  { pending }: MessageAsked,
): Returned["last"] | undefined {
  const id = inputIds.at(-1);
  if (id === undefined) return undefined;
  const isHook = pending.find((input) => input.id === id)?.from.kind === "hook";
  return { kind: "input", id, ...(isHook ? { hook: true } : {}) };
}

/** Undefined where the conversation is there already. */
export function returnTo(now: SessionState, { event, state: then, last }: ReturnPoint): Returned | undefined {
  const wanted = conversationAt(event, then, last);
  const same = wanted.findIndex((message, index) => !sameJson(message, now.history.at(index)));
  const shared = same < 0 ? wanted.length : same;
  if (shared === wanted.length && shared === now.history.length) return undefined;
  // A result is told with its call, so that what is told is whole by itself.
  const isTorn = wanted[shared] !== undefined && !startsCleanly(wanted[shared]);
  const keep = isTorn ? Math.max(0, shared - 1) : shared;
  const { todos, knowsTodos, announced, servers, ...worklist } = then.worklist;
  const { knowsPlan, knowsMemory, briefed, instructed, changed } = worklist;
  const { instructions, skills } = then.shares;
  return {
    type: "context.returned",
    to: event.seq,
    last,
    keep,
    messages: wanted.slice(keep),
    tokens: then.contextTokens,
    known: {
      todos: [...todos],
      knowsTodos,
      announced: [...announced],
      servers: [...servers],
      knowsPlan,
      knowsMemory,
      briefed,
      instructed: [...instructed],
      changed: [...changed],
      shares: { instructions, skills },
    },
    seen: [...then.seen].map(([path, stamp]) => ({ path, stamp })),
    keptFolder: then.keptFolder,
  };
}

/** Calls that had no result by then were never asked for: whatever came of them came after the message. */
function conversationAt(event: Durable, { history, calls }: SessionState, last: Returned["last"]): Message[] {
  if (event.type === "model.finished" && last.kind === "reply") {
    const whole = sendable(event.content, event.stop);
    const before = isBlank(whole) ? history.slice() : history.slice(0, -1);
    return [...before, ...reply(sendable(event.content.slice(0, last.block + 1), event.stop), new Set())];
  }
  const settled = callsIn(calls).filter(({ result }) => result !== undefined);
  if (calls.ids.length === 0) return history.slice();
  const asked = history.at(-1);
  const but = new Set(settled.map(({ use }) => use.id));
  return [
    ...history.slice(0, -1),
    ...(asked ? reply(asked.content, but) : []),
    ...(settled.length > 0 ? [batchMessage(settled)] : []),
  ];
}

function reply(content: readonly Block[], but: ReadonlySet<string>): Message[] {
  const message = withoutCalls({ role: "assistant", content: [...content] }, but);
  return isBlank(message.content) ? [] : [message];
}
