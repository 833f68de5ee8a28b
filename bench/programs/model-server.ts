/** Serves the scripted model. It parses no request while others wait: sizes and times are all it takes. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { ReadyReply } from "../../keel/src/testing/answers.ts";
import { findViolations } from "../../keel/src/testing/request-rules.ts";
import { anthropicWire } from "../../keel/src/testing/wires/anthropic.ts";
import type { ConversationReport, ServerScript } from "../model-server.ts";

class Conversation {
  readonly arrivedAt: number[] = [];
  readonly repliedAt: number[] = [];
  readonly requestBytes: number[] = [];
  last: readonly Buffer[] = [];
}

const deltaCharacters = 24;
/** A reply leaves in pieces of this size: a write for every delta would measure the socket and not the reader. */
const pieceBytes = 32 * 1024;

class Desk {
  #script: ServerScript = { toolTurns: 0, call: { name: "Read", input: {} }, deltas: 1 };
  #answer: Buffer = Buffer.alloc(0);
  #conversations = new Map<string, Conversation>();

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const arrivedAt = performance.now();
    switch (`${request.method} ${request.url}`) {
      case "PUT /script":
        this.#follow(JSON.parse(Buffer.concat(chunks).toString("utf8")));
        return void response.end();
      case "GET /report":
        return void response.end(JSON.stringify([...this.#conversations.values()].map(reportOf)));
      default:
        return this.#reply(chunks, arrivedAt, response);
    }
  }

  #follow(script: ServerScript): void {
    this.#script = script;
    this.#conversations = new Map();
    this.#answer = bytesOf(answer(script));
  }

  #reply(chunks: readonly Buffer[], arrivedAt: number, response: ServerResponse): void {
    const conversation = this.#conversationOf(chunks);
    conversation.arrivedAt.push(arrivedAt);
    conversation.requestBytes.push(chunks.reduce((sum, { length }) => sum + length, 0));
    conversation.last = chunks;
    const turn = conversation.arrivedAt.length;
    const { call, toolTurns, callFor, usage, tokensPerSecond } = this.#script;
    const isCall = callFor === undefined ? turn <= toolTurns : endsWith(chunks, callFor);
    const inputTokens = usage ? Math.round((conversation.requestBytes.at(-1) ?? 0) / 4) : undefined;
    response.writeHead(200, { "content-type": "text/event-stream" });
    const replied = (): void => void conversation.repliedAt.push(performance.now());
    if (tokensPerSecond !== undefined) {
      const reply = isCall ? callReply(turn, call, inputTokens) : answer(this.#script, inputTokens);
      const betweenMs = (deltaCharacters / charactersPerToken / tokensPerSecond) * 1_000;
      return void write(response, { records: anthropicWire.records(reply), betweenMs }).then(replied);
    }
    const bytes = isCall
      ? bytesOf(callReply(turn, call, inputTokens))
      : inputTokens === undefined
        ? this.#answer
        : bytesOf(answer(this.#script, inputTokens));
    send(response, bytes, replied);
  }

  #conversationOf([first]: readonly Buffer[]): Conversation {
    const head = first?.toString("latin1", 0, 2048) ?? "";
    const name = /"user_id":"([^"]*)"/.exec(head)?.[1] ?? "";
    const known = this.#conversations.get(name) ?? new Conversation();
    this.#conversations.set(name, known);
    return known;
  }
}

/** Whether the last text of the request has these words. That of a result is what the call gave. */
function endsWith(chunks: readonly Buffer[], words: string): boolean {
  const end = Buffer.concat(chunks.slice(-4)).toString("latin1").slice(-4096);
  return end.slice(end.lastIndexOf('{"type":"text"')).includes(words);
}

/** Piece by piece as the reader takes them; `beforeEnd` is called just before the last one leaves. */
function send(response: ServerResponse, bytes: Buffer, beforeEnd: () => void): void {
  let sent = 0;
  const next = (): void => {
    while (bytes.length - sent > pieceBytes) {
      const more = response.write(bytes.subarray(sent, sent + pieceBytes));
      sent += pieceBytes;
      if (!more) return void response.once("drain", next);
    }
    beforeEnd();
    response.end(bytes.subarray(sent));
  };
  next();
}

const charactersPerToken = 4;

/** Delta by delta, as a model writes. */
async function write(
  response: ServerResponse,
  { records, betweenMs }: { readonly records: Iterable<string>; readonly betweenMs: number },
): Promise<void> {
  for (const record of records) {
    response.write(record);
    if (record.includes("_delta")) await pause(betweenMs);
  }
  response.end();
}

const common = {
  model: "scripted-model",
  usage: { inputTokens: 100, outputTokens: 20, cacheReadTokens: 0, cacheWriteTokens: 0 },
  chunkChars: deltaCharacters,
  delayMs: 0,
  betweenMs: 0,
  fault: undefined,
};

const used = (inputTokens: number = common.usage.inputTokens) => ({ ...common.usage, inputTokens });

function callReply(turn: number, call: ServerScript["call"], inputTokens?: number): ReadyReply {
  const id = `toolu_${String(turn).padStart(6, "0")}`;
  const { name } = call;
  // A call that is the same again and again is a circle, which ends the turn.
  const input = { ...call.input, limit: 100_000 + turn };
  const json = JSON.stringify(input);
  return {
    ...common,
    usage: used(inputTokens),
    id: `msg_${turn}`,
    stop: "tool_use",
    blocks: [
      { type: "text", text: "I look at the file once more." },
      { type: "tool_use", id, name, json, input: { ...input } },
    ],
  };
}

const answer = (
  { deltas, words = "All is read and well so." }: ServerScript,
  inputTokens?: number,
): ReadyReply => ({
  ...common,
  usage: used(inputTokens),
  id: "msg_answer",
  stop: "end",
  blocks: [
    {
      type: "text",
      text: words
        .repeat(Math.ceil((deltas * deltaCharacters) / words.length))
        .slice(0, deltas * deltaCharacters),
    },
  ],
});

const bytesOf = (reply: ReadyReply): Buffer => Buffer.from([...anthropicWire.records(reply)].join(""));

function reportOf({ arrivedAt, repliedAt, requestBytes, last }: Conversation): ConversationReport {
  return { arrivedAt, repliedAt, requestBytes, violations: violationsIn(last) };
}

/** Floors send bytes of the same number, which need not be a request that a provider takes. */
function violationsIn(last: readonly Buffer[]): string[] {
  const body: unknown = JSON.parse(Buffer.concat(last).toString("utf8"));
  return findViolations(body);
}

const worklist = new Desk();
const server = createServer({ keepAliveTimeout: 120_000, requestTimeout: 0 }, (request, response) => {
  worklist.serve(request, response).catch((thrown: unknown) => {
    process.stderr.write(`model server: ${String(thrown)}\n`);
    response.destroy();
  });
});
server.listen(0, "127.0.0.1", 4096, () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}` })}\n`);
});
process.stdin.on("end", () => process.exit(0)).resume();
