// The published suites on what is our own, and on what breaks its word: each breakage is found by its own case.
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { nodeClock, nodeIds } from "../keel/src/app/node-ports.ts";
import { ircChannel } from "../keel/src/channels/irc/channel.ts";
import { telegramChannel } from "../keel/src/channels/telegram/channel.ts";
import { whatsappChannel } from "../keel/src/channels/whatsapp/channel.ts";
import { httpEmbedder } from "../keel/src/memory/http-embedder.ts";
import { catalog } from "../keel/src/models/catalog.ts";
import { openHttp } from "../keel/src/models/http.ts";
import { routedModel } from "../keel/src/models/router.ts";
import type { Embedder } from "../keel/src/ports/memory-index.ts";
import type { Model, ModelEvent } from "../keel/src/ports/model.ts";
import { memoryStore } from "../keel/src/store/memory/memory.ts";
import { type ChannelUnderTest, channelSuite } from "../keel/src/testing/channel-suite.ts";
import { embedderSuite } from "../keel/src/testing/embedder-suite.ts";
import { instantClock } from "../keel/src/testing/fake-clock.ts";
import type { KitCase } from "../keel/src/testing/kit-case.ts";
import { startModelServer } from "../keel/src/testing/model-server.ts";
import { type ModelUnderTest, modelSuite } from "../keel/src/testing/model-suite.ts";
import type { Reply } from "../keel/src/testing/script.ts";
import { scriptedModel } from "../keel/src/testing/scripted-model.ts";
import { storeSuite } from "../keel/src/testing/store-suite.ts";
import { type WireUnderTest, wireSuite } from "../keel/src/testing/wire-suite.ts";
import { MessageInbox, type MessageWire } from "../keel/src/transport/message-wire.ts";
import { openChannelWire } from "../keel/src/transport/node/channel-wire.ts";
import { openLocalSocket } from "../keel/src/transport/node/local-socket.ts";
import { openProgramWire } from "../keel/src/transport/node/program-wire.ts";
import { fakeTelegram, telegramToken } from "./support/fake-telegram.ts";
import { fakeWhatsApp, phoneNumberId, whatsappKeys } from "./support/fake-whatsapp.ts";
import { loopback } from "./support/loopback.ts";
import { ircPerson, ngircd, startNgircd } from "./support/ngircd.ts";
import { notRunHere } from "./support/not-run.ts";
import { verifies } from "./support/verifies.ts";

const patience = { timeout: 60_000 };

function holds(cases: readonly KitCase[]): void {
  test.each(cases)("$name", patience, async ({ run }) => {
    verifies("P58");
    await run();
  });
}

/** Which cases something fails. */
async function failed(cases: readonly KitCase[], names: readonly string[]): Promise<string[]> {
  const wanted = cases.filter(({ name }) => names.some((each) => name.startsWith(each)));
  expect(wanted.map(({ name }) => name)).toHaveLength(names.length);
  const outcomes = await Promise.allSettled(wanted.map(({ run }) => run()));
  return wanted.flatMap(({ name }, at) => (outcomes[at]?.status === "rejected" ? [name] : []));
}

type Broken<Break> = Break & { readonly breaks: string; readonly found: string };

/** Each breakage is found by its own case. All are judged at once, since a case waits a while for what never comes. */
function finds<Break>(
  broken: readonly Broken<Break>[],
  kind: string,
  suite: (broken: Broken<Break>) => Promise<readonly KitCase[]>,
): void {
  describe(`the suite of ${kind} finds`, () => {
    let verdicts: readonly string[][] = [];
    beforeAll(async () => {
      verdicts = await Promise.all(broken.map(async (one) => failed(await suite(one), [one.found])));
    }, patience.timeout);
    test.each(broken.map(({ breaks }, at) => [breaks, at] as const))("%s", (_, at) => {
      verifies("P58");
      expect(verdicts[at]).toHaveLength(1);
    });
  });
}

const key = "sk-kit-0123456789";
const http = openHttp();

const wires = {
  anthropic: { provider: "anthropic", name: "claude-haiku-4-5", version: "" },
  "openai chat": { provider: "openai", name: "gpt-4.1", version: "/v1", wire: "chat" },
  "openai responses": { provider: "openai", name: "gpt-5.4", version: "/v1", wire: "responses" },
  gemini: { provider: "google", name: "gemini-3-pro-preview", version: "" },
} as const;

async function overWire(wanted: keyof typeof wires, reply: Reply): Promise<ModelUnderTest> {
  const { provider, name, version, ...more } = wires[wanted];
  const server = await startModelServer({ script: () => reply, key, law: "none" });
  const credential = { kind: "key", value: key } as const;
  const endpoint = { provider, baseUrl: `${server.url}${version}`, credential, ...more };
  const model = routedModel({
    home: endpoint,
    endpoints: [endpoint],
    catalog: catalog(),
    http: http.send,
    now: () => Date.now(),
  });
  return { model, name, close: () => server.close() };
}

describe.each(Object.keys(wires) as (keyof typeof wires)[])("a model over the wire %s", (wire) => {
  holds(modelSuite({ open: (reply) => overWire(wire, reply) }));
});

describe("a model in memory", () => {
  holds(
    modelSuite({
      open: async (reply) => ({
        model: scriptedModel(() => reply, { law: "none" }),
        name: "scripted",
        close: async () => undefined,
      }),
    }),
  );
});

type Break = (model: Model) => Partial<Model>;
const changed =
  (change: (event: ModelEvent, all: ModelEvent[]) => readonly ModelEvent[]): Break =>
  (model) => ({
    async *stream(request, signal) {
      const all: ModelEvent[] = [];
      for await (const event of model.stream(request, signal)) {
        all.push(event);
        yield* change(event, all);
      }
    },
  });

finds<{ model: Break }>(
  [
    {
      breaks: "two ends",
      found: "begins once, ends once",
      model: changed((event) => (event.type === "end" ? [event, event] : [event])),
    },
    {
      breaks: "something behind the end",
      found: "begins once, ends once",
      model: changed((event) =>
        event.type === "end" ? [event, { type: "text", index: 0, text: "late" }] : [event],
      ),
    },
    {
      breaks: "pieces that are lost",
      found: "tells a text in pieces",
      model: changed((event, all) => (event.type === "text" && all.length === 4 ? [] : [event])),
    },
    {
      breaks: "a block without an end",
      found: "gives each block a start and an end",
      model: changed((event) => (event.type === "block.end" ? [] : [event])),
    },
    {
      breaks: "calls that share an id",
      found: "gives a call its name",
      model: changed((event) =>
        event.type === "end"
          ? [
              {
                ...event,
                content: event.content.map((block) =>
                  block.type === "tool_use" ? { ...block, id: "same" } : block,
                ),
              },
            ]
          : [event],
      ),
    },
    {
      breaks: "an end that is always the same",
      found: "says that a reply wants its calls run",
      model: changed((event) => (event.type === "end" ? [{ ...event, stop: "end" }] : [event])),
    },
    {
      breaks: "counts that are lost",
      found: "counts what was used",
      model: changed((event) =>
        event.type === "end" ? [{ ...event, usage: { ...event.usage, cacheReadTokens: 0 } }] : [event],
      ),
    },
    {
      breaks: "an error that is no fault",
      found: "throws a limit of the rate",
      model: (model) => ({
        async *stream(request, signal) {
          try {
            yield* model.stream(request, signal);
          } catch {
            throw new Error("it failed");
          }
        },
      }),
    },
    {
      breaks: "a torn stream that ends well",
      found: "throws where a stream breaks off",
      model: (model) => ({
        async *stream(request, signal) {
          const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
          try {
            yield* model.stream(request, signal);
          } catch {
            yield { type: "end", stop: "end", usage, content: [] };
          }
        },
      }),
    },
    {
      breaks: "a signal that nobody hears",
      found: "ends soon when it is stopped",
      model: (model) => ({ stream: (request) => model.stream(request, new AbortController().signal) }),
    },
    {
      breaks: "a request that grows",
      found: "leaves the request as it was",
      model: (model) => ({
        stream(request, signal) {
          Object.assign(request, { maxOutputTokens: 1 });
          return model.stream(request, signal);
        },
      }),
    },
    {
      breaks: "bytes that are never the same",
      found: "makes the same bytes",
      model: (model) => ({
        prepare: (request) => model.prepare?.({ ...request, system: [`${Math.random()}`] }),
      }),
    },
  ],
  "models",
  async ({ model: broken }) => {
    const open = async (reply: Reply): Promise<ModelUnderTest> => {
      const { model, name, close } = await overWire("anthropic", reply);
      const whole: Model = {
        info: (wanted) => model.info(wanted),
        prepare: (request) => model.prepare?.(request),
        stream: (request, signal) => model.stream(request, signal),
      };
      return { model: { ...whole, ...broken(model) }, name, close };
    };
    return modelSuite({ open });
  },
);

/** The other end of a socket, as a wire. */
function wireOver(socket: WebSocket): MessageWire {
  const inbox = new MessageInbox();
  socket.on("message", (data) => inbox.take(String(data)));
  const closed = once(socket, "close").then(([code]) => `closed with ${code}`);
  return {
    send: (message) => socket.readyState === socket.OPEN && socket.send(message),
    onMessage: (heard) => inbox.listen(heard),
    closed,
    close: () => socket.close(),
  };
}

async function socketServer(listen: (server: ReturnType<typeof createServer>) => void) {
  const { createServer: createHttp } = await import("node:http");
  const server = createHttp();
  const sockets = new WebSocketServer({ server });
  const far = once(sockets, "connection").then(([socket]) => wireOver(socket));
  listen(server);
  await once(server, "listening");
  return {
    far,
    server,
    async close() {
      for (const socket of sockets.clients) socket.terminate();
      sockets.close();
      server.close();
    },
  };
}

async function localSocket(): Promise<WireUnderTest> {
  const folder = mkdtempSync(path.join(tmpdir(), "keel-kit-"));
  const socket = path.join(folder, "s");
  const { far, close } = await socketServer((server) => server.listen(socket));
  const near = await openLocalSocket({ socket, path: "/", protocol: "kit", maxBytes: 16e6 });
  return {
    near,
    far: await far,
    async close() {
      near.close();
      await close();
      rmSync(folder, { recursive: true });
    },
  };
}

async function channelSocket(): Promise<WireUnderTest> {
  const { far, server, close } = await socketServer((each) => each.listen(0, "127.0.0.1"));
  const address = server.address();
  const port = address !== null && typeof address === "object" ? address.port : 0;
  const near = await openChannelWire("websocket", {
    url: `http://127.0.0.1:${port}`,
    socketPath: "/",
    linesPath: "/lines",
    secret: "kit",
    newId: () => "one",
    maxBytes: 16e6,
    silentMs: 30_000,
    signal: new AbortController().signal,
  });
  return {
    near,
    far: await far,
    async close() {
      near.close();
      await close();
    },
  };
}

/** A program that passes its pipes on to a socket, whose other end is the far one. */
const relay = `
const socket = require("node:net").connect(process.argv[1]);
process.stdout.write("ready\\n");
process.stdin.on("data", (chunk) => socket.write(chunk));
process.stdin.on("end", () => socket.end());
socket.on("data", (chunk) => process.stdout.write(chunk));
socket.on("close", () => process.stdout.write("", () => process.exit(0)));
`;

async function programPipes(): Promise<WireUnderTest> {
  const folder = mkdtempSync(path.join(tmpdir(), "keel-kit-"));
  const place = path.join(folder, "s");
  const server = createServer();
  const connected = once(server, "connection").then(([socket]): Socket => socket);
  server.listen(place);
  await once(server, "listening");
  const near = await openProgramWire({
    file: process.execPath,
    args: ["-e", relay, place],
    env: {},
    maxBytes: 16e6,
    begins: (line) => line === "ready",
  });
  const socket = await connected;
  const inbox = new MessageInbox();
  let rest = "";
  socket.setEncoding("utf8").on("data", (text) => {
    const lines = `${rest}${text}`.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) inbox.take(line);
  });
  socket.on("error", () => undefined);
  const far: MessageWire = {
    send: (message) => void (socket.writable && socket.write(`${message}\n`)),
    onMessage: (heard) => inbox.listen(heard),
    closed: once(socket, "close").then(() => "the socket is closed"),
    close: () => void socket.end(),
  };
  return {
    near,
    far,
    async close() {
      near.close();
      socket.destroy();
      server.close();
      rmSync(folder, { recursive: true });
    },
  };
}

describe("a wire over a socket of this machine", () => holds(wireSuite({ open: localSocket })));
describe("a wire of a bridge", () => holds(wireSuite({ open: channelSocket })));
describe("a wire over the pipes of a program", () => holds(wireSuite({ open: programPipes })));

finds<{ near: (wire: MessageWire) => Partial<MessageWire> }>(
  [
    {
      breaks: "messages that are lost",
      found: "carries messages whole",
      near: (wire) => ({ send: (message) => !message.includes('"number":7,') && wire.send(message) }),
    },
    {
      breaks: "large messages in pieces",
      found: "carries a megabyte",
      near: (wire) => ({
        send(message) {
          for (let at = 0; at < message.length; at += 65_536) wire.send(message.slice(at, at + 65_536));
        },
      }),
    },
    {
      breaks: "what comes early, and is gone",
      found: "keeps what comes before",
      near: (wire) => {
        let heard: (message: string) => void = () => undefined;
        wire.onMessage((message) => heard(message));
        return {
          onMessage(listener) {
            heard = listener;
          },
        };
      },
    },
    {
      breaks: "an end that nobody hears of",
      found: "says at the near end that it is over",
      near: () => ({ closed: new Promise(() => undefined) }),
    },
    {
      breaks: "an end before the last message",
      found: "brings what was sent before",
      near: (wire) => ({
        onMessage: (listener) => wire.onMessage((message) => setTimeout(listener, 500, message)),
      }),
    },
    {
      breaks: "a second end that throws",
      found: "is closed twice",
      near: (wire) => {
        let isClosed = false;
        return {
          close() {
            if (isClosed) throw new Error("closed");
            isClosed = true;
            wire.close();
          },
        };
      },
    },
  ],
  "wires",
  async ({ near: broken }) => {
    const open = async (): Promise<WireUnderTest> => {
      const { near, far, close } = await localSocket();
      const whole: MessageWire = {
        send: (message) => near.send(message),
        onMessage: (heard) => near.onMessage(heard),
        closed: near.closed,
        close: () => near.close(),
      };
      return { near: { ...whole, ...broken(near) }, far, close };
    };
    return wireSuite({ open });
  },
);

async function telegram(): Promise<ChannelUnderTest> {
  const server = await fakeTelegram();
  const channel = telegramChannel({
    token: telegramToken,
    apiUrl: server.url,
    clock: instantClock(),
    ids: { random: () => 0 },
    pollSeconds: 1,
  });
  return {
    channel,
    chat: "-100",
    say: (text) => server.say(-100, text),
    read: () => server.sent.map(({ text }) => text),
    again: "told",
    close: () => server.close(),
  };
}

async function whatsapp(): Promise<ChannelUnderTest> {
  const server = await fakeWhatsApp();
  const listens = Promise.withResolvers<number>();
  const channel = whatsappChannel({
    phoneNumberId,
    token: whatsappKeys.token,
    appSecret: whatsappKeys.secret,
    verifyToken: whatsappKeys.verify,
    apiUrl: server.url,
    port: 0,
    tell: (what, { port }) => void (what === "channel.listens" && listens.resolve(Number(port))),
  });
  let said = 0;
  return {
    channel,
    chat: "4915111",
    ready: async () => void (await listens.promise),
    async say(text) {
      const known = server.say(await listens.promise, { id: `w${++said}`, text: { body: text } });
      await Promise.race([known, new Promise((resolve) => setTimeout(resolve, 200))]);
    },
    read: () => server.sent.map(({ text }) => text),
    again: "told",
    close: () => server.close(),
  };
}

describe("the channel of Telegram", () => holds(channelSuite({ open: telegram })));
describe("the channel of WhatsApp", () => holds(channelSuite({ open: whatsapp })));

describe("the channel of IRC", () => {
  const program = ngircd();
  if (program === undefined) return test("needs a server", () => notRunHere("irc", "ngIRCd absent"));
  const open = async (): Promise<ChannelUnderTest> => {
    const server = await startNgircd(program);
    const ana = await ircPerson(server.port, "ana", "#lunch");
    const channel = ircChannel({
      host: "127.0.0.1",
      port: server.port,
      tls: false,
      nick: "keel",
      clock: nodeClock(),
      ids: nodeIds(),
      gapMs: 20,
    });
    return {
      channel,
      chat: "#lunch",
      async ready() {
        for (let tries = 0; tries < 100 && ana.heard.length === 0; tries++) {
          await channel.send("#lunch", "ready").catch(() => undefined);
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      },
      say: (text) => ana.say(text),
      read: () => ana.heard.map(({ text }) => text).filter((text) => text !== "ready"),
      again: "lost",
      async close() {
        ana.leave();
        await server.close();
      },
    };
  };
  holds(channelSuite({ open }));
});

type Channel = ChannelUnderTest["channel"];
finds<{ channel: (channel: Channel) => Partial<Channel> }>(
  [
    {
      breaks: "markup that is eaten",
      found: "gives people what is sent",
      channel: (channel) => ({ send: (chat, text) => channel.send(chat, text.replace(/[*_<>]/g, "")) }),
    },
    {
      breaks: "a limit that is too high",
      found: "takes a text as long as it says",
      channel: () => ({ limit: 5_000 }),
    },
    {
      breaks: "the wrong chat",
      found: "hears what people say",
      channel: (channel) => ({
        listen: ({ heard, ...ears }, signal) =>
          channel.listen({ ...ears, heard: (message) => heard({ ...message, chat: "elsewhere" }) }, signal),
      }),
    },
    {
      breaks: "numbers that are used twice",
      found: "gives each message a number",
      channel: (channel) => ({
        listen: ({ heard, ...ears }, signal) =>
          channel.listen({ ...ears, heard: (message) => heard({ ...message, id: "1" }) }, signal),
      }),
    },
    {
      breaks: "its own words as somebody's",
      found: "does not hear itself",
      channel: (channel) => {
        const own: string[] = [];
        return {
          send: (chat, text) => {
            own.push(text);
            return channel.send(chat, text);
          },
          listen: ({ heard, ...ears }, signal) =>
            channel.listen(
              {
                ...ears,
                async heard(message) {
                  for (const text of own.splice(0)) await heard({ ...message, id: `own ${text}`, text });
                  await heard(message);
                },
              },
              signal,
            ),
        };
      },
    },
    {
      breaks: "what could not be kept, and is gone",
      found: "tells a message again",
      channel: (channel) => ({
        listen: ({ heard, ...ears }, signal) =>
          channel.listen({ ...ears, heard: (message) => heard(message).catch(() => undefined) }, signal),
      }),
    },
    {
      breaks: "an ear that never closes",
      found: "stops listening",
      channel: (channel) => ({ listen: (ears) => channel.listen(ears, new AbortController().signal) }),
    },
  ],
  "channels",
  async ({ channel: broken }) => {
    const open = async (): Promise<ChannelUnderTest> => {
      const { channel, ...rest } = await telegram();
      const whole: Channel = {
        limit: channel.limit,
        send: (chat, text) => channel.send(chat, text),
        listen: (ears, signal) => channel.listen(ears, signal),
      };
      return { ...rest, channel: { ...whole, ...broken(channel) } };
    };
    return channelSuite({ open });
  },
);

/** A server whose vectors are sums over the characters. */
async function overHttp(kind: "ollama" | "openai" | "voyage"): Promise<Embedder> {
  const server = await loopback((response, { body }) => {
    const { input } = JSON.parse(body);
    const vectors = input.map((text: string) => {
      const vector = Array.from({ length: 32 }, () => 0.1);
      for (const [at, sign] of [...text].entries()) {
        const place = (sign.codePointAt(0) ?? 0) % 32;
        vector[place] = (vector[place] ?? 0) + 1 + (at % 3);
      }
      return vector;
    });
    const data = vectors.map((embedding: number[], index: number) => ({ index, embedding })).reverse();
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(kind === "ollama" ? { embeddings: vectors } : { data }));
  });
  const embedder = httpEmbedder({ kind, model: "m", baseUrl: server.url });
  let isOpen = true;
  return {
    ...embedder,
    async close() {
      await embedder.close();
      if (isOpen) await server.close();
      isOpen = false;
    },
  };
}

describe.each(["ollama", "openai", "voyage"] as const)("an embedder over HTTP, as %s speaks", (kind) => {
  holds(embedderSuite({ open: () => overHttp(kind) }));
});

finds<{ embed: (embed: Embedder["embed"]) => Embedder["embed"] }>(
  [
    {
      breaks: "a vector that is missing",
      found: "gives a vector for each text",
      embed: (embed) => async (texts, as, signal) => (await embed(texts, as, signal)).slice(1),
    },
    {
      breaks: "vectors without a direction",
      found: "gives a vector for each text",
      embed: (embed) => async (texts, as, signal) =>
        (await embed(texts, as, signal)).map(({ length }) => new Float32Array(length)),
    },
    {
      breaks: "another order",
      found: "gives them in the order",
      embed: (embed) => async (texts, as, signal) => (await embed(texts, as, signal)).toReversed(),
    },
    {
      breaks: "one direction for all",
      found: "gives the same text the same direction",
      embed: (embed) => async (texts, as, signal) =>
        (await embed(texts, as, signal)).map(({ length }) => new Float32Array(length).fill(1)),
    },
    {
      breaks: "a question of another length",
      found: "takes a question",
      embed: (embed) => async (texts, as, signal) =>
        (await embed(texts, as, signal)).map((vector) => (as === "question" ? vector.slice(1) : vector)),
    },
    {
      breaks: "a signal that nobody hears",
      found: "ends when it is stopped",
      embed: (embed) => (texts, as) => embed(texts, as),
    },
  ],
  "embedders",
  async ({ embed }) => {
    const open = async (): Promise<Embedder> => {
      const whole = await overHttp("openai");
      return { ...whole, embed: embed(whole.embed) };
    };
    return embedderSuite({ open });
  },
);

test("the suite of stores finds a store that forgets an event", patience, async () => {
  verifies("P58");
  const open = async (): ReturnType<Parameters<typeof storeSuite>[0]["open"]> => {
    const store = memoryStore();
    return {
      store: {
        ...store,
        list: (filter) => store.list(filter),
        async *read(...asked: Parameters<typeof store.read>) {
          let skipped = false;
          for await (const event of store.read(...asked)) {
            if (!skipped && event.seq === 2) skipped = true;
            else yield event;
          }
        },
      },
      folders: ["/srv/one", "/srv/two"],
      beside: async () => store.beside(),
      restart: async () => store.restart(),
      readSpilled: async (file) => store.spilled(file) ?? "missing",
      close: async () => undefined,
    };
  };
  expect(await failed(storeSuite({ open }), ["gives back what was appended"])).toHaveLength(1);
});
