// What a request leaves of itself in the log: sums of the bytes that go out, and what they cost.
import { createHash, Hash } from "node:crypto";
import { describe, expect, test, vi } from "vitest";
import type { ModelRequest } from "../ports/model.ts";
import { type Message, text } from "../protocol/message.ts";
import type { RequestSums } from "../protocol/usage.ts";
import { messagesEncoder } from "./anthropic/encode.ts";
import { catalog } from "./catalog.ts";
import { chatEncoder } from "./openai/encode.ts";
import { traitsFor } from "./openai/traits.ts";

const models = catalog();
const tools = [
  { name: "Read", description: "Reads", input: { type: "object" } },
  { name: "Edit", description: "Edits", input: { type: "object" } },
];
const system = ["You are a test.", "Be brief."];
const baseUrl = "http://127.0.0.1:8136/v1";

const requestOf = (parts: Partial<ModelRequest>): ModelRequest => ({
  model: "claude-sonnet-4-5",
  system,
  tools,
  messages: [],
  maxOutputTokens: 8_000,
  thinking: { kind: "off" },
  session: "s-1",
  ...parts,
});

/** Words, calls and their results, as long as wanted. */
const conversation = (turns: number, words = "hi"): Message[] =>
  Array.from({ length: turns }, (_, turn): Message[] => [
    { role: "user", content: [text(`${words} ${turn} é\u2028`)] },
    {
      role: "assistant",
      content: [{ type: "tool_use", id: `c${turn}`, name: "Read", input: { path: "a" } }],
    },
    {
      role: "user",
      content: [{ type: "tool_result", callId: `c${turn}`, content: [text("done")], failed: false }],
    },
    { role: "assistant", content: [text("so")] },
  ]).flat();

type Encode = (request: ModelRequest) => { body: Buffer; sums: RequestSums };
const wires: Record<string, () => Encode> = {
  anthropic: () => {
    const encode = messagesEncoder();
    return (request) => {
      const { body, sums } = encode(request, models.info(request.model));
      return { body: Buffer.concat(body), sums };
    };
  },
  openai: () => {
    const encode = chatEncoder();
    return (request) => {
      const { body, sums } = encode(
        request,
        models.info(`openai/${request.model}`),
        traitsFor(request.model, { baseUrl }),
      );
      return { body: Buffer.from(body), sums };
    };
  },
};

const digestOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex").slice(0, 32);

describe.each(Object.keys(wires))("the sums of a request over %s", (name) => {
  const encoder = (): Encode => wires[name]?.() ?? expect.fail("no such wire");

  test("are those of the bytes that go out, whatever was sent before", () => {
    const encode = encoder();
    const all = conversation(12);
    const changes: Partial<ModelRequest>[] = [
      ...all.map((_, count) => ({ messages: all.slice(0, count + 1) })),
      // A start that is another, one that is shorter, another session between, and the first again.
      { messages: all, maxOutputTokens: 9_000 },
      { messages: all.slice(0, 5) },
      { messages: all, session: "s-2" },
      { messages: all, tools: tools.slice(0, 1) },
      { messages: all, system: ["Another."] },
      { messages: all, system: [], tools: [] },
      {
        messages: [
          ...all,
          { role: "user", content: [text("one")] },
          { role: "user", content: [text("two")] },
        ],
      },
      { messages: [] },
      { messages: all },
    ];
    for (const change of changes) {
      const { body, sums } = encode(requestOf(change));
      expect(sums.body).toEqual({ digest: digestOf(body), bytes: body.length });
    }
  });

  test("tell tools and system apart, and are left out where there are none", () => {
    const encode = encoder();
    const sums = (parts: Partial<ModelRequest>) => encode(requestOf(parts)).sums;
    const both = sums({ messages: conversation(1) });
    const otherTools = sums({ messages: conversation(1), tools: tools.slice(1) });
    expect(otherTools.tools).not.toEqual(both.tools);
    expect(otherTools.system).toEqual(both.system);
    const none = sums({ messages: conversation(1), tools: [], system: [] });
    expect(none).not.toHaveProperty("tools");
    expect(none).not.toHaveProperty("system");
  });

  test("cost what a request adds: bytes that are hashed in a turn do not grow with the conversation", () => {
    const encode = encoder();
    // Node's own, watched: what our code gives it to read.
    using update = vi.spyOn(Hash.prototype, "update");
    const hashed = (messages: Message[]): number => {
      update.mockClear();
      encode(requestOf({ messages }));
      return update.mock.calls.reduce((sum, [bytes]) => sum + Buffer.byteLength(bytes), 0);
    };
    const all = conversation(400, "words ".repeat(100));
    const turns = Array.from({ length: 399 }, (_, turn) => hashed(all.slice(0, turn * 4 + 5)));
    const early = turns.slice(5, 15).reduce((sum, bytes) => sum + bytes);
    const late = turns.slice(-10).reduce((sum, bytes) => sum + bytes);
    expect(late).toBeLessThan(early * 1.2);
  });
});

test("each cache mark has the sum of the messages before it, which the next request repeats", () => {
  const encode = wires["anthropic"]?.() ?? expect.fail("no such wire");
  const all = conversation(6);
  const prefixesAt = (count: number) =>
    encode(requestOf({ messages: all.slice(0, count) })).sums.prefixes ?? [];
  const first = prefixesAt(5);
  const second = prefixesAt(7);
  expect(first.map(({ messages }) => messages)).toEqual([3, 5]);
  expect(second.map(({ messages }) => messages)).toEqual([5, 7]);
  // Where the one request ended, the next one finds its way back: byte for byte the same.
  expect(second[0]).toEqual(first[1]);
  const changed = [{ role: "user" as const, content: [text("other")] }, ...all.slice(1, 7)];
  expect(encode(requestOf({ messages: changed })).sums.prefixes?.[0]).not.toEqual(second[0]);
});
