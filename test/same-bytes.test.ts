// The request that a resumed session sends must be the one that the living session would have sent, byte for byte:
// whatever stands in a log, its way through the disk must not change what the provider's cache compares.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { requestOf } from "../keel/src/core/context/request.ts";
import { fold } from "../keel/src/core/fold.ts";
import { emptyState } from "../keel/src/core/state/state.ts";
import { messagesEncoder } from "../keel/src/models/anthropic/encode.ts";
import { catalog } from "../keel/src/models/catalog.ts";
import { type Durable, type DurableEvent, durableEventSchema } from "../keel/src/protocol/event/durable.ts";
import type { Block, ResultPart } from "../keel/src/protocol/message.ts";
import { decodeLine, encodeRecord } from "../keel/src/store/jsonl/line.ts";
import { jsonlStore } from "../keel/src/store/jsonl/store.ts";
import { countingIds } from "../keel/src/testing/counting-ids.ts";
import { instantClock } from "../keel/src/testing/fake-clock.ts";

const model = "claude-sonnet-4-5";
const info = catalog().info(model);
const session = "00000000-0000-7000-8000-0000000000aa";

/** What a request looks like that follows these events. */
function bytesAfter(events: readonly Durable[]): string {
  const state = events.reduce(fold, emptyState);
  return Buffer.concat(messagesEncoder()(requestOf(state, { session, info }), info).body).toString("latin1");
}

async function throughTheDisk(events: readonly Durable[]): Promise<Durable[]> {
  const home = await mkdtemp(path.join(tmpdir(), "keel-bytes-"));
  try {
    const store = jsonlStore({ home, clock: instantClock(), ids: countingIds() });
    const log = await store.create(session, { cwd: "/project" });
    await log.append(events);
    await log.close();
    return await Array.fromAsync(store.read(session));
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

/** The same way without the disk: many times in little time. */
function throughTheFormat(events: readonly Durable[]): Durable[] {
  return events.map((event) => {
    const line = decodeLine(encodeRecord(event).subarray(0, -1));
    const { seq, at } = event;
    return { seq, at, session, ...durableEventSchema.parse(line) };
  });
}

const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };

/** A conversation in which the model said this and got that. */
function conversation(said: readonly Block[], results: readonly ResultPart[][]): Durable[] {
  const calls = said.flatMap((block) => (block.type === "tool_use" ? [block] : []));
  const events: DurableEvent[] = [
    {
      type: "session.opened",
      keel: "test",
      cwd: "/project",
      settings: { model, permissionMode: "default", thinking: { kind: "adaptive" } },
    },
    { type: "prompt.fixed", system: ["Help."], tools: [], why: "first" },
    {
      type: "input.accepted",
      input: { id: "i", content: [{ type: "text", text: "go" }], from: { kind: "person" }, when: "after" },
    },
    { type: "turn.started", turnId: "t", inputIds: ["i"] },
    {
      type: "model.finished",
      requestId: "r",
      messageId: "m",
      model,
      content: [...said],
      stop: "tool_use",
      usage,
      costUsd: 0,
      ms: 1,
    },
    ...calls.map(
      ({ id, name }, index): DurableEvent => ({
        type: "tool.finished",
        callId: id,
        tool: name,
        content: results[index] ?? [],
        failed: false,
        display: { kind: "text", text: "" },
        ms: 1,
      }),
    ),
  ];
  return events.map((event, index) => ({ seq: index + 1, at: index, session, ...event }));
}

const call = (id: string, json: string): Block => ({
  type: "tool_use",
  id,
  name: "Look",
  input: JSON.parse(json),
});

describe("a request after a restart is the same bytes", () => {
  test.each([
    ["keys in an order of their own", '{"zebra":1,"ant":{"z":1,"a":2},"10":1,"2":2}'],
    [
      "a key that is also a name of the language",
      '{"__proto__":{"x":1},"constructor":2,"deep":{"__proto__":[3]}}',
    ],
    ["numbers that JSON writes otherwise", '{"a":1.0,"b":1e3,"c":-0,"d":12345678901234567890,"e":1e400}'],
    ["line ends of every kind and half a character", '{"a":"\\u2028\\u2029\\r\\n\\u0000","b":"\\ud800x"}'],
  ])("with %s in a call", async (_, json) => {
    const events = conversation([call("c1", json)], [[{ type: "text", text: json }]]);
    expect(bytesAfter(await throughTheDisk(events))).toBe(bytesAfter(events));
  });

  test("with thinking, hidden thinking, pictures, documents, blocks of the provider and blank texts", async () => {
    const said: Block[] = [
      { type: "thinking", text: "hm", signature: "c2ln", model },
      { type: "thinking", text: "", hidden: "aGlkZGVu", model },
      { type: "thinking", text: "of another", signature: "c2ln", model: "claude-haiku-4-5" },
      { type: "text", text: "  \n" },
      { type: "text", text: "so" },
      { type: "foreign", provider: "anthropic", data: { type: "server_tool_use", z: 1, a: { y: 1, b: [] } } },
      { type: "foreign", provider: "another", data: { any: "thing" } },
      call("c1", "{}"),
      call("c2", '{"b":[],"a":{}}'),
    ];
    const results: ResultPart[][] = [
      [
        { type: "image", mediaType: "image/png", data: "iVBORw0KGgo=" },
        { type: "text", text: " " },
      ],
      [{ type: "document", mediaType: "text/plain", data: "aGVsbG8=", name: "a.txt" }],
    ];
    const events = conversation(said, results);
    expect(bytesAfter(events)).toContain("server_tool_use");
    expect(bytesAfter(await throughTheDisk(events))).toBe(bytesAfter(events));
  });

  test("with whatever JSON a model can write and whatever text a tool can give", () => {
    const object = fc.dictionary(
      fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("__proto__", "toString", "0", "a")),
      fc.jsonValue({ maxDepth: 2, stringUnit: "binary" }),
      { noNullPrototype: true },
    );
    const texts = fc.string({ unit: "binary", maxLength: 200 });
    fc.assert(
      fc.property(fc.array(object, { maxLength: 4 }), texts, (inputs, said) => {
        const calls = inputs.map((input, index) => call(`c${index}`, JSON.stringify(input)));
        const events = conversation(
          [{ type: "text", text: `${said}.` }, ...calls],
          inputs.map(() => [{ type: "text", text: said }]),
        );
        expect(bytesAfter(throughTheFormat(events))).toBe(bytesAfter(events));
      }),
      { numRuns: 100, seed: 20_260_101 },
    );
  });
});
