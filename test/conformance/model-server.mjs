/**
 * A scripted stand-in for the Messages API, on the loopback interface only.
 *
 * A script is `{ replies, side, otherwise }`:
 *   replies    answers given in order, one per request;
 *   side       rules tried before `replies`: `{ when, reply, times?, lane? }`.
 *              `when` may hold `systemContains`, `lastUserContains`,
 *              `modelContains`; all that are present must hold. Requests
 *              answered by a rule are logged in its lane (default "agent"),
 *              all others in lane "main";
 *   otherwise  the answer when nothing else is left.
 *
 * A reply is one of
 *   { blocks, stopReason?, usage?, chunk?, delayMs?, holdMs? }
 *   { error: { status, type, message, headers? } }      a plain HTTP error
 *   { blocks, breakAfter: { events, error? } }          stream breaks midway: with an
 *                                                       `error` event, or (without `error`)
 *                                                       by closing the connection
 *   { reset: true }                                     connection closed without an answer
 * and is written most easily with the helpers in lib/script.mjs.
 */
import http from "node:http";
import { findViolations } from "./lib/request-rules.mjs";

const DEFAULT_USAGE = {
  input_tokens: 100,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 20,
  service_tier: "standard",
};

const DEFAULT_CHUNK = 12;

/** A request for a single token is a check of the model, not a turn; it takes no reply from the script. */
const PROBE_ANSWER = { reply: { blocks: [{ type: "text", text: "." }] }, lane: "probe" };

/** Starts the server; every request is handed to `onRequest` before it is answered. */
export async function startModelServer({ script, onRequest = () => {} }) {
  const answers = new Answers(script);
  let serial = 0;

  const server = http.createServer(async (request, response) => {
    const body = await readJson(request);
    const path = new URL(request.url, "http://localhost").pathname;
    serial += 1;
    const requestId = `req_test_${serial}`;

    if (request.method === "POST" && path === "/v1/messages/count_tokens") {
      onRequest({ kind: "count_tokens", body });
      return sendJson(response, 200, requestId, { input_tokens: estimateTokens(body) });
    }
    if (request.method !== "POST" || path !== "/v1/messages") {
      onRequest({ kind: "other", path });
      return sendJson(response, 200, requestId, path === "/v1/models" ? { data: [], has_more: false } : {});
    }
    const violations = findViolations(body, request.headers);
    const isProbe = body.max_tokens === 1;
    const { reply, lane } = isProbe ? PROBE_ANSWER : answers.next(body);
    onRequest({ kind: isProbe ? "probe" : "message", lane, body, violations });
    await answer({ reply, body, response, requestId, answers });
  });

  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Chooses the answer to each request and hands out stable ids. */
class Answers {
  #replies;
  #side;
  #otherwise;
  #messages = 0;
  #toolUses = 0;

  constructor({ replies = [], side = [], otherwise } = {}) {
    this.#replies = [...replies];
    this.#side = side.map((rule) => ({ ...rule, left: rule.times ?? Infinity }));
    this.#otherwise = otherwise ?? { blocks: [{ type: "text", text: "(the script has no more replies)" }] };
  }

  next(body) {
    const rule = this.#side.find((candidate) => candidate.left > 0 && applies(candidate.when, body));
    if (rule) {
      rule.left -= 1;
      return { reply: rule.reply, lane: rule.lane ?? "agent" };
    }
    return { reply: this.#replies.shift() ?? this.#otherwise, lane: "main" };
  }

  messageId() {
    this.#messages += 1;
    return `msg_test_${String(this.#messages).padStart(4, "0")}`;
  }

  toolUseId() {
    this.#toolUses += 1;
    return `toolu_test_${String(this.#toolUses).padStart(4, "0")}`;
  }
}

function applies(when, body) {
  const lastUser = textOf(body.messages?.at(-1)?.content);
  if (when.systemContains && !textOf(body.system).includes(when.systemContains)) return false;
  if (when.lastUserContains && !lastUser.includes(when.lastUserContains)) return false;
  if (when.modelContains && !String(body.model).includes(when.modelContains)) return false;
  return true;
}

async function answer({ reply, body, response, requestId, answers }) {
  if (reply.holdMs) await sleep(reply.holdMs);
  if (reply.reset) {
    response.destroy();
    return;
  }
  if (reply.error) {
    const { status, type, message, headers } = reply.error;
    sendJson(
      response,
      status,
      requestId,
      { type: "error", error: { type, message }, request_id: requestId },
      headers,
    );
    return;
  }

  const blocks = fillIn(reply.blocks, body).map((block) =>
    block.type === "tool_use" ? { ...block, id: block.id ?? answers.toolUseId() } : block,
  );
  const message = {
    id: answers.messageId(),
    type: "message",
    role: "assistant",
    model: body.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
  };
  const usage = { ...DEFAULT_USAGE, ...reply.usage };
  const wantsTools = blocks.some((block) => block.type === "tool_use");
  const stopReason = reply.stopReason ?? (wantsTools ? "tool_use" : "end_turn");

  if (!body.stream) {
    const content = blocks.map(({ rawInput, ...block }) => block);
    sendJson(response, 200, requestId, { ...message, content, stop_reason: stopReason, usage });
    return;
  }

  response.writeHead(200, {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
    "request-id": requestId,
  });
  const events = streamEvents({ message, blocks, usage, stopReason, chunk: reply.chunk ?? DEFAULT_CHUNK });
  let sent = 0;
  for (const event of events) {
    if (response.destroyed) return;
    if (reply.breakAfter && sent === reply.breakAfter.events) {
      breakStream(response, reply.breakAfter.error);
      return;
    }
    writeEvent(response, event);
    sent += 1;
    if (reply.delayMs) await sleep(reply.delayMs);
  }
  response.end();
}

function* streamEvents({ message, blocks, usage, stopReason, chunk }) {
  yield { type: "message_start", message: { ...message, usage: { ...usage, output_tokens: 1 } } };
  yield { type: "ping" };
  for (const [index, block] of blocks.entries()) {
    yield* blockEvents(index, block, chunk);
    yield { type: "content_block_stop", index };
  }
  yield { type: "message_delta", delta: { stop_reason: stopReason, stop_sequence: null }, usage };
  yield { type: "message_stop" };
}

function* blockEvents(index, block, chunk) {
  const start = (content_block) => ({ type: "content_block_start", index, content_block });
  const delta = (value) => ({ type: "content_block_delta", index, delta: value });

  if (block.type === "text") {
    yield start({ type: "text", text: "" });
    for (const text of pieces(block.text, chunk)) yield delta({ type: "text_delta", text });
  } else if (block.type === "thinking") {
    yield start({ type: "thinking", thinking: "", signature: "" });
    for (const thinking of pieces(block.thinking, chunk)) yield delta({ type: "thinking_delta", thinking });
    yield delta({ type: "signature_delta", signature: "dGVzdA==" });
  } else if (block.type === "tool_use") {
    yield start({ type: "tool_use", id: block.id, name: block.name, input: {} });
    const json = block.rawInput ?? JSON.stringify(block.input ?? {});
    for (const partial_json of pieces(json, chunk)) yield delta({ type: "input_json_delta", partial_json });
  } else {
    yield start(block);
  }
}

function writeEvent(response, event) {
  response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}

function breakStream(response, error) {
  if (!error) {
    response.destroy();
    return;
  }
  writeEvent(response, { type: "error", error });
  response.end();
}

function sendJson(response, status, requestId, body, headers = {}) {
  response.writeHead(status, { "content-type": "application/json", "request-id": requestId, ...headers });
  response.end(JSON.stringify(body));
}

async function readJson(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString("utf8");
  return text === "" ? {} : JSON.parse(text);
}

/** `{{find:REGEX}}` in a reply becomes the first capture group found in the request. */
function fillIn(value, body) {
  if (typeof value === "string") {
    return value.replace(/\{\{find:(.+?)\}\}/g, (_, pattern) => {
      const found = JSON.stringify(body).match(new RegExp(pattern));
      return found ? found[1] : "nothing-found";
    });
  }
  if (Array.isArray(value)) return value.map((item) => fillIn(item, body));
  if (value && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillIn(item, body)]));
  }
  return value;
}

function textOf(content) {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((block) => block.text ?? textOf(block.content)).join("\n");
}

function pieces(text, size) {
  const result = [];
  for (let at = 0; at < text.length; at += size) result.push(text.slice(at, at + size));
  return result.length > 0 ? result : [""];
}

function estimateTokens(body) {
  return Math.max(1, Math.round(JSON.stringify(body).length / 4));
}

function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
