// What two recipes write: a provider with a wire of its own, and a host that speaks in plain lines.

export const acme = {
  row: `  {
    id: "acme",
    name: "Acme",
    wire: "acme",
    baseUrl: "https://api.acme.example",
    version: "in_wire",
    family: /^acme-/,
    defaultHolds: "everywhere",
    modelsPath: "/models",
    baseUrlNames: ["ACME_BASE_URL"],
    credentialNames: [{ kind: "key", name: "ACME_API_KEY" }],
    modelNames: ["ACME_MODEL"],
  },
`,

  wire: `  async acme() {
    const { acmeModel, acmeHeaders } = await import("./acme/model.ts");
    return { open: acmeModel, headers: acmeHeaders };
  },
`,

  info: `
const acmeModel: ModelInfo = {
  id: "acme-1",
  name: "Acme 1",
  provider: "acme",
  windowTokens: 200 * thousand,
  maxOutputTokens: 32 * thousand,
  prices: { input: 1, output: 2, cacheRead: 1, cacheWrite: 1, cacheWriteLong: 1, asOf: "2026-11-01" },
  abilities: { tools: false, images: false, thinking: "none", cache: false },
};
`,

  encode: `/** A request as the body of the wire: turns of plain text. */
import { wellFormedJson } from "../../kernel/json.ts";
import type { ModelRequest } from "../../ports/model.ts";

export function encodeTurns({ model, system, messages, maxOutputTokens }: ModelRequest): Uint8Array {
  const turns = messages.map(({ role, content }) => ({
    role,
    text: content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\\n"),
  }));
  const limit = maxOutputTokens;
  return new TextEncoder().encode(wellFormedJson({ model, system: system.join("\\n"), turns, limit }));
}
`,

  decode: `/** Events of the wire as ModelEvents: pieces of one text, and its end. */
import { asObject, asText, type Json } from "../../kernel/json.ts";
import type { ModelEvent } from "../../ports/model.ts";
import type { Block } from "../../protocol/message.ts";
import { noUsage } from "../../protocol/usage.ts";
import { countIn, malformed } from "../read-answer.ts";

export type TurnDecoder = {
  /** Throws \`stream_malformed\`. */
  push(wire: Json): ModelEvent[];
  /** The last event, once the reply is whole. */
  ended(): ModelEvent | undefined;
};

export function turnDecoder(model: string): TurnDecoder {
  let said: string | undefined;
  let end: ModelEvent | undefined;
  const start = (): ModelEvent[] => {
    if (said !== undefined) return [];
    said = "";
    return [
      { type: "start", model },
      { type: "block.start", index: 0, block: { type: "text", text: "" } },
    ];
  };
  return {
    push(wire) {
      if (end) throw malformed("an event after the end of the reply");
      const started = start();
      const event = asObject(wire);
      if (!("end" in event)) {
        const text = asText(event["text"]);
        said += text;
        return [...started, { type: "text", index: 0, text }];
      }
      const block: Block = { type: "text", text: said ?? "" };
      const counted = { inputTokens: countIn(event, "input"), outputTokens: countIn(event, "output") };
      end = { type: "end", stop: "end", usage: { ...noUsage, ...counted }, content: [block] };
      return [...started, { type: "block.end", index: 0, block }];
    },
    ended: () => end,
  };
}
`,

  model: `/** The Model port over the wire of Acme. */
import { fault } from "../../kernel/fault.ts";
import { oneByOne } from "../../kernel/one-by-one.ts";
import type { Model, ModelEvent, ModelRequest } from "../../ports/model.ts";
import { nameAt } from "../catalog.ts";
import { codeOfStatus, providerRefusal, retryAfterMs, wordsOfBody } from "../provider-error.ts";
import type { Endpoint } from "../providers.ts";
import { type ModelOptions, malformed, parseData, readAnswer, readErrorText } from "../read-answer.ts";
import { turnDecoder } from "./decode.ts";
import { encodeTurns } from "./encode.ts";

export function acmeModel({ endpoint, catalog, http, now }: ModelOptions): Model {
  const url = \`\${endpoint.baseUrl}/generate\`;
  const headers = acmeHeaders(endpoint);
  const secrets = endpoint.credential ? [endpoint.credential.value] : [];
  const nameOf = (model: string): string => nameAt("acme", model, catalog);

  async function* batches(asked: ModelRequest, signal: AbortSignal): AsyncGenerator<readonly ModelEvent[]> {
    const model = nameOf(asked.model);
    const response = await http(
      { method: "POST", url, headers, body: encodeTurns({ ...asked, model }) },
      signal,
    );
    const { status, header } = response;
    if (status !== 200) {
      const wire = wordsOfBody(await readErrorText(response));
      throw providerRefusal(
        { status, wire, model, secrets, retryAfterMs: retryAfterMs(header, now()) },
        { code: codeOfStatus(status, true), status, type: undefined, words: wire },
      );
    }
    const decoder = turnDecoder(model);
    yield* readAnswer(response, {
      event: (data) => decoder.push(parseData(data)),
      isOver: () => decoder.ended() !== undefined,
      whole: () => {
        throw malformed("the answer does not stream");
      },
    });
    const end = decoder.ended();
    if (!end) throw fault("stream_cut", {});
    yield [end];
  }

  return {
    info: (model) => catalog.info(nameOf(model)),
    stream: (asked, signal) => oneByOne(batches(asked, signal)),
  };
}

export function acmeHeaders({ credential }: Endpoint): Record<string, string> {
  return {
    "content-type": "application/json",
    accept: "text/event-stream",
    ...(credential ? { "x-acme-key": credential.value } : {}),
  };
}
`,

  test: `import { afterAll, beforeAll, expect, test } from "vitest";
import { type Loopback, loopback } from "../../../../test/support/loopback.ts";
import type { ModelEvent, ModelRequest } from "../../ports/model.ts";
import { catalog } from "../catalog.ts";
import { openHttp } from "../http.ts";
import { encodeTurns } from "./encode.ts";
import { acmeModel } from "./model.ts";

const http = openHttp();
let server: Loopback;
let answer = { status: 200, events: [""] };
beforeAll(async () => {
  server = await loopback((response) => {
    response.writeHead(answer.status, { "content-type": "text/event-stream" });
    response.end(answer.events.map((data) => \`data: \${data}\\n\\n\`).join(""));
  });
});
afterAll(async () => {
  http.close();
  await server.close();
});

const request: ModelRequest = {
  model: "acme/acme-1",
  system: ["Be brief."],
  tools: [],
  messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }],
  maxOutputTokens: 100,
  thinking: { kind: "off" },
  session: "s",
};

async function ask(): Promise<ModelEvent[]> {
  const model = acmeModel({
    endpoint: { provider: "acme", baseUrl: server.url, credential: { kind: "key", value: "secret-key" } },
    catalog: catalog({}),
    http: http.send,
    now: () => 0,
  });
  const events: ModelEvent[] = [];
  for await (const event of model.stream(request, AbortSignal.timeout(5_000))) events.push(event);
  return events;
}

test("a reply streams as one text and ends once, last", async () => {
  answer = { status: 200, events: ['{"text":"he"}', '{"text":"llo"}', '{"end":"stop","input":3,"output":1}'] };
  const events = await ask();
  expect(events.map(({ type }) => type)).toEqual([
    "start",
    "block.start",
    "text",
    "text",
    "block.end",
    "end",
  ]);
  expect(events.at(-1)).toMatchObject({
    content: [{ type: "text", text: "hello" }],
    usage: { inputTokens: 3 },
  });
  const [sent] = server.seen;
  expect(sent?.headers["x-acme-key"]).toBe("secret-key");
  expect(JSON.parse(sent?.body ?? "")).toEqual({
    model: "acme-1",
    system: "Be brief.",
    turns: [{ role: "user", text: "hi" }],
    limit: 100,
  });
});

test("the same messages give the same bytes", () => {
  const more = { role: "assistant" as const, content: [{ type: "text" as const, text: "hello" }] };
  const [one, two] = [request, { ...request, messages: [...request.messages, more] }].map((asked) =>
    new TextDecoder().decode(encodeTurns(asked)),
  );
  expect(two?.startsWith(one?.slice(0, one.indexOf("]")) ?? "")).toBe(true);
});

test.each([
  ["a stream without its end", { status: 200, events: ['{"text":"he"}'] }, "stream_cut"],
  ["an event that is no JSON", { status: 200, events: ["{"] }, "stream_malformed"],
  ["a key that is refused", { status: 401, events: [] }, "key_refused"],
  ["too many requests", { status: 429, events: [] }, "rate_limited"],
])("%s is a fault by its cause", async (_, given, code) => {
  answer = given;
  await expect(ask()).rejects.toMatchObject({ code });
});
`,
};

export const plainHost = {
  dialect: `/** Plain lines: each line in is said, each text of the model and each end of a turn is a line out. */
import type { Command } from "../../protocol/command.ts";
import { type Envelope, type EventHandlers, handle } from "../../protocol/event/envelope.ts";
import { text } from "../../protocol/message.ts";

export type PlainMemo = { readonly turns: number };
type PlainOutput = readonly [readonly string[], PlainMemo];

export const newPlainMemo: PlainMemo = { turns: 0 };

export const toLines = (envelope: Envelope, memo: PlainMemo): PlainOutput =>
  handle(told, envelope, memo) ?? [[], memo];

const told: EventHandlers<Envelope, [memo: PlainMemo], PlainOutput> = {
  "model.finished": ({ content }, memo) => [
    content.flatMap((block) => (block.type === "text" ? [block.text] : [])),
    memo,
  ],
  "turn.finished": ({ reason }, memo) => {
    const turns = memo.turns + 1;
    return [[\`(turn \${turns}: \${reason})\`], { turns }];
  },
};

/** Undefined for a line that says nothing. */
export const toCommand = (line: string): Command | undefined =>
  line.trim() === "" ? undefined : { type: "input", content: [text(line)], words: "as-is" };
`,

  main: `/** \`keel plain\`: a conversation in plain lines, one turn after the other. */
import type { Readable } from "node:stream";
import { openHome } from "../../app/home.ts";
import type { OpenOptions } from "../../app/options.ts";
import { lineReader } from "../../transport/lines.ts";
import { newPlainMemo, toCommand, toLines } from "./dialect.ts";

/** What it needs of the command's context. */
export type PlainContext = Pick<OpenOptions, "version" | "env" | "cwd"> & {
  readonly input: Readable;
  readonly out: { line(text: string): void; drained(): Promise<void> };
};

const maxBytes = 1024 * 1024;

/** Returns the exit code. */
export async function run({ version, env, cwd, input, out }: PlainContext): Promise<number> {
  await using home = openHome({ env, cwd });
  const session = await home.open({ version, env, cwd });
  let memo = newPlainMemo;
  session.onEvent((envelope) => {
    const [lines, next] = toLines(envelope, memo);
    memo = next;
    for (const line of lines) out.line(line);
    // Nobody is there who could be asked.
    if (envelope.type === "ask.opened")
      void session.submit({
        type: "answer",
        askId: envelope.ask.id,
        answer: { verdict: "deny" },
        by: "no-host",
      });
  });
  const reader = lineReader({ maxBytes });
  const say = async (reads: ReturnType<typeof reader.end>): Promise<void> => {
    for (const read of reads) {
      if (!read.ok) throw read.fault;
      const command = toCommand(read.line);
      if (!command) continue;
      await session.submit(command);
      await session.idle();
    }
  };
  for await (const chunk of input) await say(reader.push(chunk));
  await say(reader.end());
  await session.close("ended");
  await out.drained();
  return 0;
}
`,

  row: `  command({
    usage: "keel plain",
    says: "A conversation in plain lines: each line that comes in is answered before the next",
    load: async () => async (_, context) => (await import("../plain/main.ts")).run(context),
  }),
`,

  test: `import { expect, test } from "vitest";
import { everyEvent } from "../../../../test/store/every-event.ts";
import { newPlainMemo, toCommand, toLines } from "./dialect.ts";

test("of a whole log it tells what the model said and how turns ended", () => {
  let memo = newPlainMemo;
  const lines = everyEvent.flatMap((event, index) => {
    const [told, next] = toLines({ seq: index + 1, at: index, session: "s", ...event }, memo);
    memo = next;
    return told;
  });
  expect(lines).toEqual(["I will look.", "(turn 1: interrupted)"]);
});

test("a line is said as it is, and a blank one says nothing", () => {
  expect(toCommand("/help")).toMatchObject({ type: "input", words: "as-is" });
  expect(toCommand("  ")).toBeUndefined();
});
`,
};
