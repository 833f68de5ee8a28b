// What strange models send, as the bytes of their wires; and a server that sends it.
import type { ServerResponse } from "node:http";
import type { Json, JsonObject } from "../../keel/src/kernel/json.ts";
import type { Endpoint } from "../../keel/src/models/providers.ts";
import { call, callChunk, chunk, finish, textChunk } from "../support/openai-wire.ts";

export type Answer = (response: ServerResponse) => void;
export type WireName = "chat" | "responses" | "gemini" | "messages";

const stream = { "content-type": "text/event-stream" };

/** Records as they are, and then the end of the body. */
export const raw =
  (body: string, head: Record<string, string> = stream, status = 200): Answer =>
  (response) =>
    void response.writeHead(status, head).end(body);

export const sse = (...events: Json[]): Answer =>
  raw(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));

export const refuses = (status: number, message: string, more: JsonObject = {}): Answer =>
  raw(JSON.stringify({ error: { message, ...more } }), { "content-type": "application/json" }, status);

/** Chat completions. */
export const chat = (...chunks: Json[]): Answer => sse(...chunks, finish());
export const chatText = (...pieces: string[]): Answer => chat(...pieces.map(textChunk));
export const chatCall = (args: Json, more: { name?: string; id?: string } = {}): Answer =>
  chat(callChunk(call({ index: 0, id: "c1", name: "Look", args, ...more })));
export const chatThought = (text: string): JsonObject => chunk({ reasoning_content: text });

/** Never ends by itself: whoever reads must have had enough. */
export const endless =
  (piece: Json): Answer =>
  (response) => {
    response.writeHead(200, stream);
    const record = `data: ${JSON.stringify(piece)}\n\n`;
    const write = (): void => {
      while (!response.destroyed && response.write(record));
      if (!response.destroyed) response.once("drain", write);
    };
    response.on("error", () => undefined);
    write();
  };

const created: JsonObject = { type: "response.created", response: { id: "resp_1" } };
const completed: JsonObject = { type: "response.completed", response: { id: "resp_1", output: [] } };
export const responses = (...events: Json[]): Answer => sse(created, ...events, completed);
export const itemDone = (item: JsonObject): JsonObject => ({
  type: "response.output_item.done",
  output_index: 0,
  item,
});

export const gemini = (parts: Json[], finishReason = "STOP"): Answer =>
  sse({ responseId: "r1", candidates: [{ content: { role: "model", parts }, finishReason }] });

/** What each wire says when nothing is strange. */
export const plain: Readonly<Record<WireName, Answer>> = {
  chat: chatText("fine"),
  responses: responses(itemDone({ type: "message", content: [{ type: "output_text", text: "fine" }] })),
  gemini: gemini([{ text: "fine" }]),
  messages: sse(
    { type: "message_start", message: { id: "m", model: "x", content: [], usage: {} } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "fine" } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: {} },
    { type: "message_stop" },
  ),
};

export const endpoints: Readonly<Record<WireName, (url: string) => Endpoint>> = {
  chat: (url) => ({ provider: "openai", baseUrl: `${url}/v1`, wire: "chat" }),
  responses: (url) => ({ provider: "openai", baseUrl: `${url}/v1`, wire: "responses" }),
  gemini: (url) => ({ provider: "google", baseUrl: url }),
  messages: (url) => ({ provider: "anthropic", baseUrl: url }),
};
