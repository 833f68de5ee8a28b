/** The calls of the newest reply as the fold knows them, until all have settled and their results go to the model. */
import type { Json } from "../../kernel/json.ts";
import { Lookup } from "../../kernel/lookup.ts";
import { type Message, type ToolResult, type ToolUse, text } from "../../protocol/message.ts";
import { note } from "../context/blocks.ts";

export type ToolCall = {
  readonly use: ToolUse;
  readonly status: "requested" | "started" | "settled";
  /** What runs, where it differs from what the model sent. */
  readonly input?: Json | undefined;
  readonly result?: ToolResult | undefined;
  /** Words that hooks added for the model. */
  readonly context: readonly string[];
};

/** The calls of one reply. What happens to one of them costs the same however many there are. */
export type CallBatch = {
  readonly ids: readonly string[];
  readonly byId: Lookup<ToolCall>;
  /** How many have no result yet. */
  readonly open: number;
  /** How many calls its programs have made by now, all of them together. */
  readonly inner: number;
};

export const noCalls: CallBatch = { ids: [], byId: Lookup.empty(), open: 0, inner: 0 };

export function batchOf(calls: readonly ToolCall[]): CallBatch {
  const byId = Lookup.of(calls.map((call) => [call.use.id, call] as const));
  const ids = [...new Set(calls.map(({ use }) => use.id))];
  return { ids, byId, open: ids.filter((id) => byId.get(id)?.status !== "settled").length, inner: 0 };
}

/** In the order asked. */
export const callsIn = ({ ids, byId }: CallBatch): ToolCall[] =>
  ids.flatMap((id) => {
    const call = byId.get(id);
    return call ? [call] : [];
  });

export function changeCall(batch: CallBatch, id: string, apply: (call: ToolCall) => ToolCall): CallBatch {
  const call = batch.byId.get(id);
  if (!call) return batch;
  const next = apply(call);
  const settled = call.status !== "settled" && next.status === "settled" ? 1 : 0;
  return { ...batch, byId: batch.byId.with(id, next), open: batch.open - settled };
}

/** A turn that ends with open calls still leaves a valid conversation. */
export const settledCalls = (batch: CallBatch): CallBatch =>
  batchOf(
    callsIn(batch).map((call) =>
      call.result ? call : { ...call, status: "settled" as const, result: unsettledResult(call) },
    ),
  );

/** A batch reaches the model whole and in the order asked: a provider rejects a call without its result. */
export function batchMessage(calls: readonly ToolCall[]): Message {
  const results = calls.flatMap(({ result }) => (result ? [result] : []));
  const notes = calls.flatMap(({ context }) => context.map(note));
  return { role: "user", content: [...results, ...notes] };
}

function unsettledResult(call: ToolCall): ToolResult {
  const why =
    call.status === "started"
      ? "Interrupted: this call was under way and may have had effects."
      : "Not run: the turn ended first.";
  return { type: "tool_result", callId: call.use.id, content: [text(why)], failed: true };
}
