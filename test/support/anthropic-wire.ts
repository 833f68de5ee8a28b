/** Pieces of the Messages wire for tests of the Messages adapter. */
import type { Json, JsonObject } from "../../keel/src/kernel/json.ts";

export const usage = {
  input_tokens: 100,
  output_tokens: 20,
  cache_read_input_tokens: 5,
  cache_creation_input_tokens: 7,
};

export const messageStart = (message: JsonObject = {}): JsonObject => ({
  type: "message_start",
  message: {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude-x-20260101",
    content: [],
    usage: { ...usage, output_tokens: 1 },
    ...message,
  },
});

export const blockStart = (index: number, content_block: JsonObject): JsonObject => ({
  type: "content_block_start",
  index,
  content_block,
});

export const delta = (index: number, change: JsonObject): JsonObject => ({
  type: "content_block_delta",
  index,
  delta: change,
});

export const blockStop = (index: number): JsonObject => ({ type: "content_block_stop", index });

export const messageEnd = (stop_reason: string | null = "end_turn", counted: Json = usage): JsonObject[] => [
  { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: counted },
  { type: "message_stop" },
];

export const textBlock = (index: number, ...pieces: string[]): JsonObject[] => [
  blockStart(index, { type: "text", text: "" }),
  ...pieces.map((text) => delta(index, { type: "text_delta", text })),
  blockStop(index),
];

export const callBlock = (
  index: number,
  call: { id: string; name: string; json: string[] },
): JsonObject[] => [
  blockStart(index, { type: "tool_use", id: call.id, name: call.name, input: {} }),
  ...call.json.map((partial_json) => delta(index, { type: "input_json_delta", partial_json })),
  blockStop(index),
];

export const ping: JsonObject = { type: "ping" };

/** Events as the bytes of a stream. */
export const toSse = (events: readonly JsonObject[]): string =>
  events.map((event) => `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`).join("");
