/** What takes the place of a conversation: notes about it, that of another session, or what it was at an earlier message. */

import { List } from "../../kernel/list.ts";
import { Lookup } from "../../kernel/lookup.ts";
import { foldBill } from "../../protocol/bill.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import type { Message } from "../../protocol/message.ts";
import type { FileSeen } from "../../protocol/tool.ts";
import { noUsage } from "../../protocol/usage.ts";
import { estimateMessage, isBlank, note, startsCleanly, withoutCalls } from "../context/blocks.ts";
import { restarted, withNotes } from "../context/tally.ts";
import type { SessionState } from "./state.ts";
import { afterRoom, chargedTurn, inTurn } from "./turn.ts";

/** The conversation of another session, as if it had been said here. */
export function inherited(
  state: SessionState,
  event: Extract<Durable, { type: "context.inherited" }>,
): SessionState {
  const estimate = event.messages.reduce((sum, message) => sum + estimateMessage(message), 0);
  return {
    ...state,
    history: List.of(event.messages),
    contextTokens: Math.max(event.tokens, estimate),
    tally: restarted(state.tally, estimate),
  };
}

/** The conversation as it was then. Rules, tasks, checkpoints and the bill are the session's, and stay. */
export function returned(
  state: SessionState,
  event: Extract<Durable, { type: "context.returned" }>,
): SessionState {
  const kept = state.history.slice(0, event.keep);
  // Where events were lost, the count may fall between a call and its result.
  const seam = kept.splice(-1).map((message) => withoutCalls(message));
  const messages = [...kept, ...seam.filter(({ content }) => !isBlank(content)), ...event.messages];
  const estimate = messages.reduce((sum, message) => sum + estimateMessage(message), 0);
  return {
    ...state,
    history: List.of(messages),
    contextTokens: Math.max(event.tokens, estimate),
    tally: restarted(state.tally, estimate),
    compaction: null,
    keptFolder: event.keptFolder,
    seen: see(Lookup.empty(), event.seen),
  };
}

/** Nothing would stand in the place of the whole conversation: the messages stay as they were, and the request is paid. */
export function notShortened(
  state: SessionState,
  event: Extract<Durable, { type: "context.compacted" }>,
): SessionState {
  return {
    ...state,
    seq: event.seq,
    bill: foldBill(state.bill, event),
    turn: state.turn && chargedTurn(state.turn, event),
    request: null,
    compaction: null,
  };
}

export function compacted(
  state: SessionState,
  event: Extract<Durable, { type: "context.compacted" }>,
): SessionState {
  // Where events were lost, the count may fall between a call and its result.
  const newest = event.keep > 0 ? state.history.slice(-event.keep) : [];
  const clean = newest.findIndex(startsCleanly);
  const kept = clean < 0 ? [] : newest.slice(clean);
  const summary: Message = { role: "user", content: [event.summary, ...(event.restored ?? [])].map(note) };
  const estimate = [summary, ...kept].reduce((sum, message) => sum + estimateMessage(message), 0);
  const tally = withNotes(state.tally, event.usageUnsure ? noUsage : event.usage, estimate);
  const gained = event.tokensAfter < event.tokensBefore * 0.9;
  const history = List.of([summary, ...kept]);
  return inTurn(
    { ...state, request: null, compaction: null, history, contextTokens: event.tokensAfter, tally },
    (turn) => ({
      ...turn,
      failures: 0,
      failure: null,
      reply: kept.length > 0 ? afterRoom(turn.reply) : null,
      compactedForLength: turn.compactedForLength || event.trigger === "too_long",
      fruitlessCompactions: gained ? 0 : turn.fruitlessCompactions + 1,
    }),
  );
}

export const see = (seen: SessionState["seen"], files: readonly FileSeen[] = []): SessionState["seen"] =>
  files.reduce((known, { path, stamp }) => known.with(path, stamp), seen);
