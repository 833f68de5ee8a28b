/** Chunks of chat completions as a server sends them, for tests of the chat adapter. */
import type { Json, JsonObject } from "../../keel/src/kernel/json.ts";

export const chunk = (delta: JsonObject, more: JsonObject = {}): JsonObject => ({
  id: "chatcmpl-1",
  object: "chat.completion.chunk",
  model: "served-model",
  choices: [{ index: 0, delta, finish_reason: null, ...more }],
});

export const textChunk = (content: string): JsonObject => chunk({ content });

export const callChunk = (...calls: Json[]): JsonObject => chunk({ tool_calls: calls });

/** One entry of `tool_calls`; what is left out is not sent. */
export function call(parts: { index?: number; id?: string; name?: string; args?: Json }): JsonObject {
  const { index, id, name, args } = parts;
  return {
    ...(index === undefined ? {} : { index }),
    ...(id === undefined ? {} : { id }),
    type: "function",
    function: { ...(name === undefined ? {} : { name }), ...(args === undefined ? {} : { arguments: args }) },
  };
}

export const finish = (finish_reason = "stop"): JsonObject => chunk({}, { finish_reason });

export const usageChunk = (usage: Json): JsonObject => ({ id: "chatcmpl-1", choices: [], usage });

export const toSse = (chunks: readonly Json[], last = "data: [DONE]\n\n"): string =>
  chunks.map((one) => `data: ${JSON.stringify(one)}\n\n`).join("") + last;
