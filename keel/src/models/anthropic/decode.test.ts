import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  blockStart,
  blockStop,
  callBlock,
  delta,
  messageEnd,
  messageStart,
  ping,
  textBlock,
  toSse,
  usage,
} from "../../../../test/support/anthropic-wire.ts";
import { Fault, fault } from "../../kernel/fault.ts";
import type { Json, JsonObject } from "../../kernel/json.ts";
import type { ModelEvent } from "../../ports/model.ts";
import { sseReader } from "../../transport/sse.ts";
import { asStream, messagesDecoder } from "./decode.ts";

function decode(wire: readonly Json[]): { events: ModelEvent[]; fault?: Fault } {
  const decoder = messagesDecoder({
    model: "claude-x",
    errorOf: (error) => fault("overloaded", { reason: JSON.stringify(error) }),
  });
  const events: ModelEvent[] = [];
  try {
    for (const event of wire) events.push(...decoder.push(event));
  } catch (thrown) {
    if (!(thrown instanceof Fault)) throw thrown;
    return { events, fault: thrown };
  }
  const end = decoder.ended();
  return { events: end ? [...events, end] : events };
}

const reply = (...blocks: JsonObject[][]): JsonObject[] => [
  messageStart(),
  ...blocks.flat(),
  ...messageEnd(),
];

const contentOf = (wire: readonly Json[]) => {
  const end = decode(wire).events.at(-1);
  return end?.type === "end" ? end.content : undefined;
};

describe("a streamed reply", () => {
  test("becomes start, blocks with their deltas, and one end", () => {
    expect(decode(reply(textBlock(0, "Hel", "lo"))).events).toEqual([
      {
        type: "start",
        providerId: "msg_1",
        model: "claude-x-20260101",
        usage: expect.objectContaining({
          inputTokens: 100,
          outputTokens: 1,
          cacheReadTokens: 5,
          cacheWriteTokens: 7,
        }),
      },
      { type: "block.start", index: 0, block: { type: "text", text: "" } },
      { type: "text", index: 0, text: "Hel" },
      { type: "text", index: 0, text: "lo" },
      { type: "block.end", index: 0, block: { type: "text", text: "Hello" } },
      {
        type: "end",
        stop: "end",
        providerId: "msg_1",
        content: [{ type: "text", text: "Hello" }],
        usage: expect.objectContaining({ inputTokens: 100, outputTokens: 20 }),
      },
    ]);
  });

  test("keeps thinking with its proof and the model that gave it", () => {
    const thought = [
      blockStart(0, { type: "thinking", thinking: "", signature: "" }),
      delta(0, { type: "thinking_delta", thinking: "hm" }),
      delta(0, { type: "signature_delta", signature: "si" }),
      delta(0, { type: "signature_delta", signature: "g" }),
      blockStop(0),
    ];
    const hidden = [blockStart(1, { type: "redacted_thinking", data: "xyz" }), blockStop(1)];
    expect(contentOf(reply(thought, hidden))).toEqual([
      { type: "thinking", text: "hm", signature: "sig", model: "claude-x" },
      { type: "thinking", text: "", hidden: "xyz", model: "claude-x" },
    ]);
    expect(decode(reply(thought)).events.map(({ type }) => type)).toEqual([
      "start",
      "block.start",
      "thinking",
      "signature",
      "signature",
      "block.end",
      "end",
    ]);
  });

  test.each<[string, string[], object]>([
    ["joined and parsed", ['{"pa', 'th":"a"}'], { input: { path: "a" } }],
    ["an empty object when nothing came", [], { input: {} }],
    ["an empty object when only blanks came", ["", " "], { input: {} }],
    ["broken when it is cut off", ['{"path":"a'], { input: {}, broken: '{"path":"a' }],
    ["broken when it is no object", ["[1]"], { input: {}, broken: "[1]" }],
    [
      "broken when it is a bomb",
      ["[".repeat(300), "]".repeat(300)],
      { input: {}, broken: expect.any(String) },
    ],
  ])("the input of a call is %s", (_, json, expected) => {
    const [call] = contentOf(reply(callBlock(0, { id: "t1", name: "Read", json }))) ?? [];
    expect(call).toEqual({ type: "tool_use", id: "t1", name: "Read", ...expected });
  });

  test("of a broken call at most a megabyte is kept", () => {
    const json = [`{"a":"${"é".repeat(1_500_000)}`];
    const [call] = contentOf(reply(callBlock(0, { id: "t1", name: "Read", json }))) ?? [];
    const kept = call?.type === "tool_use" ? call.broken : undefined;
    expect(new TextEncoder().encode(kept).length).toBeGreaterThan(1_000_000);
    expect(new TextEncoder().encode(kept).length).toBeLessThanOrEqual(1024 * 1024);
  });

  test("keeps a block that it does not know for its provider, with the input that streamed into it", () => {
    const search = [
      blockStart(0, { type: "server_tool_use", id: "s1", name: "web_search", input: {} }),
      delta(0, { type: "input_json_delta", partial_json: '{"query":"x"}' }),
      blockStop(0),
    ];
    const found = { type: "web_search_tool_result", tool_use_id: "s1", content: [{ url: "u" }] };
    expect(contentOf(reply(search, [blockStart(1, found), blockStop(1)]))).toEqual([
      {
        type: "foreign",
        provider: "anthropic",
        data: { type: "server_tool_use", id: "s1", name: "web_search", input: { query: "x" } },
      },
      { type: "foreign", provider: "anthropic", data: found },
    ]);
  });

  test("passes over keep-alives, unknown events and unknown deltas", () => {
    const wire = [
      ping,
      messageStart(),
      ping,
      { type: "news" },
      {},
      ...textBlock(0, "a"),
      ...messageEnd(),
      ping,
    ];
    wire.splice(6, 0, delta(0, { type: "citations_delta", citation: {} }));
    expect(decode(wire).events.map(({ type }) => type)).toEqual([
      "start",
      "block.start",
      "text",
      "block.end",
      "end",
    ]);
  });

  test("blocks may stand open together; their order is the order of their starts", () => {
    const wire = [
      messageStart(),
      blockStart(3, { type: "text", text: "" }),
      blockStart(1, { type: "text", text: "" }),
      delta(1, { type: "text_delta", text: "b" }),
      delta(3, { type: "text_delta", text: "a" }),
      blockStop(1),
      blockStop(3),
      ...messageEnd(),
    ];
    expect(contentOf(wire)).toEqual([
      { type: "text", text: "a" },
      { type: "text", text: "b" },
    ]);
  });
});

describe("the reason of the end", () => {
  test.each([
    ["end_turn", "end"],
    ["tool_use", "tool_use"],
    ["max_tokens", "output_limit"],
    ["model_context_window_exceeded", "window_full"],
    ["stop_sequence", "stop_sequence"],
    ["pause_turn", "pause"],
    ["refusal", "refusal"],
    ["something_new", "end"],
    ["constructor", "end"],
  ])("%s is %s", (reason, stop) => {
    const wire = [messageStart(), ...textBlock(0, "a"), ...messageEnd(reason)];
    expect(decode(wire).events.at(-1)).toMatchObject({ type: "end", stop });
  });

  test("is tool_use when there are calls, although the server says end", () => {
    const wire = [
      messageStart(),
      ...callBlock(0, { id: "t", name: "A", json: [] }),
      ...messageEnd("end_turn"),
    ];
    expect(decode(wire).events.at(-1)).toMatchObject({ stop: "tool_use" });
  });
});

describe("usage", () => {
  const counted = (start: Json, atEnd: Json) => {
    const wire = [messageStart({ usage: start }), ...messageEnd("end_turn", atEnd)];
    const end = decode(wire).events.at(-1);
    return end?.type === "end" ? end.usage : undefined;
  };

  test("is what the start and the end say together", () => {
    const end = {
      output_tokens: 50,
      cache_read_input_tokens: null,
      cache_creation: { ephemeral_1h_input_tokens: 3 },
      cache_creation_input_tokens: 7,
      output_tokens_details: { thinking_tokens: 30 },
      server_tool_use: { web_search_requests: 2 },
    };
    expect(counted(usage, end)).toEqual({
      inputTokens: 100,
      outputTokens: 50,
      cacheReadTokens: 5,
      cacheWriteTokens: 7,
      cacheWriteLongTokens: 3,
      thinkingTokens: 30,
      webSearches: 2,
    });
  });

  test.each<[string, Json, Json]>([
    ["missing", null, null],
    ["negative", { input_tokens: -5, output_tokens: -1 }, { output_tokens: -9 }],
    ["no numbers", { input_tokens: "7", cache_creation: 3 }, { output_tokens: {} }],
    ["part of nothing", {}, { cache_creation: { ephemeral_1h_input_tokens: 9 } }],
  ])("counts that are %s count as nothing", (_, start, atEnd) => {
    expect(counted(start, atEnd)).toMatchObject({
      inputTokens: 0,
      outputTokens: 0,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
    });
    expect(counted(start, atEnd)?.cacheWriteLongTokens ?? 0).toBe(0);
  });
});

describe("a stream that breaks the rules is malformed:", () => {
  const call = { id: "t1", name: "Read", json: [] };
  test.each<[string, Json[]]>([
    ["two starts", [messageStart(), messageStart()]],
    ["a block before the start", [blockStart(0, { type: "text" })]],
    ["a delta before its block", [messageStart(), delta(0, { type: "text_delta", text: "a" })]],
    [
      "a delta after its block",
      [messageStart(), ...textBlock(0, "a"), delta(0, { type: "text_delta", text: "b" })],
    ],
    ["a block that ends twice", [messageStart(), ...textBlock(0, "a"), blockStop(0)]],
    ["a block that starts twice", [messageStart(), ...textBlock(0, "a"), blockStart(0, { type: "text" })]],
    ["two calls with one id", [messageStart(), ...callBlock(0, call), ...callBlock(1, call)]],
    ["a call without a name", [messageStart(), blockStart(0, { type: "tool_use", id: "t" })]],
    ["an end inside a block", [messageStart(), blockStart(0, { type: "text" }), ...messageEnd()]],
    ["an end without a reason", [messageStart(), ...messageEnd(null)]],
    ["an event after the end", [messageStart(), ...messageEnd(), blockStart(0, { type: "text" })]],
    ["a start after the end", [messageStart(), ...messageEnd(), messageStart()]],
    ["an event that is no object", ["text"]],
    [
      "a block without index",
      [messageStart(), { type: "content_block_start", content_block: { type: "text" } }],
    ],
    ["a block without content", [messageStart(), { type: "content_block_start", index: 0 }]],
    ["a start without message", [{ type: "message_start" }]],
  ])("%s", (_, wire) => {
    expect(decode(wire).fault?.code).toBe("stream_malformed");
  });

  test("a reply that never ends", () => {
    const piece = delta(0, { type: "text_delta", text: "x".repeat(1024 * 1024) });
    const wire = [
      messageStart(),
      blockStart(0, { type: "text" }),
      ...Array.from({ length: 40 }, () => piece),
    ];
    expect(decode(wire).fault?.detail["reason"]).toBe("the reply does not end");
  });
});

test("an error inside the stream is the provider's error", () => {
  const wire = [messageStart(), { type: "error", error: { type: "overloaded_error", message: "busy" } }];
  expect(decode(wire).fault).toMatchObject({ code: "overloaded" });
});

test("a message that came whole reads as if it had streamed", () => {
  const message = {
    id: "msg_1",
    type: "message",
    model: "claude-x-20260101",
    stop_reason: "tool_use",
    usage,
    content: [
      { type: "thinking", thinking: "hm", signature: "sig" },
      { type: "text", text: "Hello" },
      { type: "tool_use", id: "t1", name: "Read", input: { path: "a" } },
    ],
  };
  const { events } = decode([...asStream(message)]);
  expect(events.map(({ type }) => type)).toEqual([
    "start",
    "block.start",
    "thinking",
    "signature",
    "block.end",
    "block.start",
    "text",
    "block.end",
    "block.start",
    "call",
    "block.end",
    "end",
  ]);
  expect(events.at(-1)).toMatchObject({
    stop: "tool_use",
    content: [
      { type: "thinking", text: "hm", signature: "sig" },
      { type: "text", text: "Hello" },
      { type: "tool_use", id: "t1", input: { path: "a" } },
    ],
  });
});

test("any split of the bytes gives the same events", () => {
  const wire = reply(
    textBlock(0, "é你😀", "\u2028"),
    callBlock(1, { id: "t", name: "A", json: ['{"a":', '"ü"}'] }),
  );
  const bytes = new TextEncoder().encode(toSse(wire));
  const expected = decode(wire).events;
  fc.assert(
    fc.property(fc.array(fc.nat(bytes.length), { maxLength: 20 }), (cuts) => {
      const places = [0, ...cuts.sort((left, right) => left - right), bytes.length];
      const reader = sseReader({ maxCharacters: 10_000 });
      const pieces: string[] = [];
      for (const [index, place] of places.slice(1).entries())
        reader.push(bytes.slice(places[index], place), { event: ({ data }) => pieces.push(data) });
      expect(decode(pieces.map((data) => JSON.parse(data))).events).toEqual(expected);
    }),
    { numRuns: 300 },
  );
});

test("whatever events come in whatever order, it ends, waits or throws a fault, and never both ends and throws", () => {
  const call = callBlock(1, { id: "t", name: "A", json: ["{", "}"] });
  const pool = [
    messageStart(),
    ping,
    ...textBlock(0, "a"),
    ...call,
    ...messageEnd(),
    { type: "error", error: {} },
    {},
  ];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pool), { maxLength: 20 }), (wire) => {
      const { events, fault: thrown } = decode(wire);
      const ends = events.filter(({ type }) => type === "end").length;
      expect(ends + (thrown ? 1 : 0)).toBeLessThanOrEqual(1);
      if (ends === 1) expect(events.at(-1)?.type).toBe("end");
    }),
    { numRuns: 1_000 },
  );
});
