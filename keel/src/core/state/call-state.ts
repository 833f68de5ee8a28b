/** The calls of the newest reply as the fold knows them, until all have settled and their results go to the model. */
import type { Json } from "../../kernel/json.ts";
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

export const changeCall = (
  calls: readonly ToolCall[],
  id: string,
  apply: (call: ToolCall) => ToolCall,
): ToolCall[] => calls.map((call) => (call.use.id === id ? apply(call) : call));

/** A turn that ends with open calls still leaves a valid conversation. */
export const settledCalls = (calls: readonly ToolCall[]): ToolCall[] =>
  calls.map((call) =>
    call.result ? call : { ...call, status: "settled" as const, result: unsettledResult(call) },
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
