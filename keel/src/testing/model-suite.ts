/**
 * What every provider's model must do, as cases for any test runner:
 *
 *     for (const { name, run } of modelSuite({ open })) test(name, run);
 *
 * `open` is given a reply of a script, and opens the model at a server that gives it to each request; `startModelServer`
 * is such a server for any wire that it is told.
 */
import assert from "node:assert/strict";
import { isRetryable } from "../kernel/backoff.ts";
import { Fault } from "../kernel/fault.ts";
import type { Model, ModelEvent, ModelRequest } from "../ports/model.ts";
import { text, toolUses } from "../protocol/message.ts";
import { aMoment, casesOf, type KitCase, soon } from "./kit-case.ts";
import { httpError, reply, replyWith, toolUse } from "./reply.ts";
import type { Reply } from "./script.ts";

export type ModelUnderTest = {
  readonly model: Model;
  /** A model that the provider has. */
  readonly name: string;
  close(): Promise<void>;
};

export type ModelSuiteOptions = { open(reply: Reply): Promise<ModelUnderTest> };

type ModelCase = { readonly reply: Reply; check(subject: ModelUnderTest): Promise<void> };

export function modelSuite({ open }: ModelSuiteOptions): KitCase[] {
  return Object.entries(cases).flatMap(([name, { reply: given, check }]) =>
    casesOf(
      { [name]: check },
      () => open(given),
      (subject) => subject.close(),
    ),
  );
}

const words = "Hello, 🌍 world: “ä”, \\ and\na line.";
const call = toolUse("Look", { at: 'a "ä" \\ \n', more: [1, { deep: null }] });

const cases: Readonly<Record<string, ModelCase>> = {
  "begins once, ends once, and says nothing after its end": {
    reply: reply(words, call),
    async check(subject) {
      const { events } = await streamed(subject);
      assert.equal(events[0]?.type, "start");
      assert.equal(events.filter(({ type }) => type === "start").length, 1);
      assert.equal(events.filter(({ type }) => type === "end").length, 1);
      assert.equal(events.at(-1)?.type, "end");
    },
  },

  "tells a text in pieces that make up the whole": {
    reply: replyWith({ chunkChars: 3 }, words),
    async check(subject) {
      const { events, content } = await streamed(subject);
      const pieces = events.flatMap((event) => (event.type === "text" ? [event.text] : []));
      assert.ok(pieces.length > 3, "it came at once");
      assert.equal(pieces.join(""), words);
      assert.deepEqual(content, [text(words)]);
    },
  },

  "gives each block a start and an end, and the reply holds what ended": {
    reply: reply(words, call),
    async check(subject) {
      const { events, content } = await streamed(subject);
      const started = events.flatMap((event) => (event.type === "block.start" ? [event.index] : []));
      const ended = events.flatMap((event) => (event.type === "block.end" ? [event] : []));
      assert.deepEqual(started.toSorted(), ended.map(({ index }) => index).toSorted());
      assert.deepEqual(
        ended.map(({ block }) => block),
        content,
      );
      for (const event of events)
        if (event.type === "text" || event.type === "call")
          assert.ok(started.includes(event.index), "a piece of a block that never began");
    },
  },

  "gives a call its name, an id and its whole input": {
    reply: reply(call, toolUse("Look", { at: "b" })),
    async check(subject) {
      const { content } = await streamed(subject);
      const asked = toolUses(content);
      assert.deepEqual(
        asked.map(({ name, input }) => ({ name, input })),
        [
          { name: "Look", input: { at: 'a "ä" \\ \n', more: [1, { deep: null }] } },
          { name: "Look", input: { at: "b" } },
        ],
      );
      assert.equal(new Set(asked.map(({ id }) => id)).size, 2);
      assert.ok(asked.every(({ id }) => id !== ""));
    },
  },

  "says that a reply is at its end": { reply: reply("done"), check: stopsWith("end") },
  "says that a reply wants its calls run": { reply: reply(call), check: stopsWith("tool_use") },
  "says that a reply was cut off at its limit": {
    reply: replyWith({ stop: "output_limit" }, "not wh"),
    check: stopsWith("output_limit"),
  },

  "counts what was used, what came from the cache apart": {
    reply: replyWith({ usage: { inputTokens: 1_000, outputTokens: 200, cacheReadTokens: 5_000 } }, "done"),
    async check(subject) {
      const { events } = await streamed(subject);
      const end = events.at(-1);
      assert.ok(end?.type === "end");
      const { inputTokens, outputTokens, cacheReadTokens } = end.usage;
      assert.deepEqual([inputTokens, outputTokens, cacheReadTokens], [1_000, 200, 5_000]);
    },
  },

  "throws a limit of the rate as what may be tried again": {
    reply: httpError(429),
    check: throwsWith("again", "rate_limited"),
  },
  "throws a failure of the server as what may be tried again": {
    reply: httpError(500),
    check: throwsWith("again", "server_error"),
  },
  "throws a refused key as what may not": {
    reply: httpError(401),
    check: throwsWith("never", "key_refused"),
  },

  "throws where a stream breaks off, and ends nothing": {
    reply: { ...reply(words), fault: { kind: "cut", afterEvents: 3 } },
    check: throwsWith("again", "stream_cut"),
  },

  "ends soon when it is stopped while nothing comes": {
    reply: { ...reply(words), fault: { kind: "stall", afterEvents: 2, with: "silence" } },
    async check({ model, name }) {
      const stop = new AbortController();
      const reading = read(model, requestFor(name), stop.signal);
      await aMoment();
      stop.abort();
      const { events, thrown } = await soon("a stopped reply", reading, 3_000);
      assert.equal(events.filter(({ type }) => type === "end").length, 0);
      assert.equal(thrown instanceof Fault ? thrown.code : thrown, "aborted");
    },
  },

  "does not begin when it is stopped already": {
    reply: reply(words),
    async check({ model, name }) {
      const { events, thrown } = await soon(
        "a reply that nobody wants",
        read(model, requestFor(name), AbortSignal.abort()),
        3_000,
      );
      assert.equal(events.filter(({ type }) => type === "end").length, 0);
      assert.equal(thrown instanceof Fault ? thrown.code : thrown, "aborted");
    },
  },

  "leaves the request as it was": {
    reply: reply(words),
    async check({ model, name }) {
      const request = requestFor(name);
      const before = JSON.stringify(request);
      await read(model, request, new AbortController().signal);
      assert.equal(JSON.stringify(request), before);
    },
  },

  "keeps two replies at once apart": {
    reply: replyWith({ chunkChars: 2 }, words),
    async check(subject) {
      const both = await Promise.all([streamed(subject), streamed(subject, "two")]);
      for (const { content } of both) assert.deepEqual(content, [text(words)]);
    },
  },

  "makes the same bytes of the same request, and of a longer one the same start": {
    reply: reply(words),
    async check({ model, name }) {
      if (!model.prepare) return;
      const request = requestFor(name);
      const [one, same] = [await model.prepare(request), await model.prepare(requestFor(name))];
      assert.deepEqual(one, same);
      const longer = await model.prepare({
        ...request,
        messages: [
          ...request.messages,
          { role: "assistant", content: [text("Hello.")] },
          { role: "user", content: [text("And now?")] },
        ],
      });
      assert.notEqual(longer?.body.digest, one?.body.digest);
      assert.deepEqual(
        [longer?.tools?.digest, longer?.system?.digest],
        [one?.tools?.digest, one?.system?.digest],
      );
    },
  },

  "says of a model that nobody knows how much may go into it": {
    reply: reply(words),
    async check({ model }) {
      const info = model.info("nobody-knows-this-model");
      assert.equal(info.id, "nobody-knows-this-model");
      assert.ok(info.windowTokens > 0 && info.maxOutputTokens > 0);
    },
  },
};

const requestFor = (name: string, session = "one"): ModelRequest => ({
  model: name,
  system: ["You are a test."],
  tools: [
    {
      name: "Look",
      description: "Looks.",
      input: { type: "object", properties: { at: { type: "string" } } },
    },
  ],
  messages: [{ role: "user", content: [text("hi")] }],
  maxOutputTokens: 1_000,
  thinking: { kind: "off" },
  session,
});

type ReadReply = { readonly events: readonly ModelEvent[]; readonly thrown: unknown };

async function read(model: Model, request: ModelRequest, signal: AbortSignal): Promise<ReadReply> {
  const events: ModelEvent[] = [];
  try {
    for await (const event of model.stream(request, signal)) events.push(event);
  } catch (thrown) {
    return { events, thrown };
  }
  return { events, thrown: undefined };
}

async function streamed({ model, name }: ModelUnderTest, session?: string) {
  const request = requestFor(name, session);
  const { events, thrown } = await soon("a reply", read(model, request, new AbortController().signal));
  if (thrown !== undefined) throw thrown;
  const end = events.findLast((event) => event.type === "end");
  return { events, content: end?.type === "end" ? end.content : [] };
}

function stopsWith(stop: "end" | "tool_use" | "output_limit"): ModelCase["check"] {
  return async (subject) => {
    const { events } = await streamed(subject);
    const end = events.at(-1);
    assert.equal(end?.type === "end" ? end.stop : end?.type, stop);
  };
}

function throwsWith(when: "again" | "never", code: string): ModelCase["check"] {
  return async ({ model, name }) => {
    const { events, thrown } = await soon(
      "a failure",
      read(model, requestFor(name), new AbortController().signal),
    );
    assert.equal(events.filter(({ type }) => type === "end").length, 0, "it ended well all the same");
    assert.ok(thrown instanceof Fault, `what it threw is no fault: ${String(thrown)}`);
    assert.equal(thrown.code, code);
    assert.equal(isRetryable(thrown.code), when === "again");
  };
}
