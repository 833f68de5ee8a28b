import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chunk, finish, textChunk, usageChunk } from "../../../../test/support/openai-wire.ts";
import { Fault, fault } from "../../kernel/fault.ts";
import type { Json, JsonObject } from "../../kernel/json.ts";
import type { ModelEvent } from "../../ports/model.ts";
import { chatDecoder } from "./decode.ts";

type End = Extract<ModelEvent, { type: "end" }>;

const decoderFor = () =>
  chatDecoder({
    model: "asked-model",
    nameOf: (name) => name,
    errorOf: (wire) => fault("overloaded", { reason: JSON.stringify(wire) }),
  });

function decode(chunks: readonly Json[], last: "done" | "silent" = "done"): ModelEvent[] {
  const decoder = decoderFor();
  const events = chunks.flatMap((one) => decoder.push(one));
  if (last === "done") decoder.done();
  return [...events, ...decoder.finish()];
}

const endOf = (chunks: readonly Json[], last: "done" | "silent" = "done"): End | undefined =>
  decode(chunks, last).find((event) => event.type === "end");

const contentOf = (...chunks: Json[]) => endOf(chunks)?.content;

describe("text", () => {
  test("streams as one block and ends with the reason and the count", () => {
    const usage = { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 4 } };
    expect(
      decode([
        chunk({ role: "assistant", content: "" }),
        textChunk("Hel"),
        textChunk("lo"),
        finish(),
        usageChunk(usage),
      ]),
    ).toEqual([
      { type: "start", providerId: "chatcmpl-1", model: "served-model" },
      { type: "block.start", index: 0, block: { type: "text", text: "" } },
      { type: "text", index: 0, text: "Hel" },
      { type: "text", index: 0, text: "lo" },
      { type: "block.end", index: 0, block: { type: "text", text: "Hello" } },
      {
        type: "end",
        stop: "end",
        usage: {
          inputTokens: 6,
          outputTokens: 5,
          cacheReadTokens: 4,
          cacheWriteTokens: 0,
          thinkingTokens: 0,
        },
        content: [{ type: "text", text: "Hello" }],
        providerId: "chatcmpl-1",
      },
    ]);
  });

  test("may come as a list of parts", () => {
    expect(
      contentOf(
        chunk({
          content: [
            { type: "text", text: "a" },
            { type: "text", text: "b" },
          ],
        }),
        finish(),
      ),
    ).toEqual([{ type: "text", text: "ab" }]);
  });

  test("that refuses ends the reply as a refusal, whatever the reason says", () => {
    expect(endOf([chunk({ refusal: "No." }), finish("stop")])).toMatchObject({
      stop: "refusal",
      content: [{ type: "text", text: "No." }],
    });
  });
});

describe("thinking", () => {
  test.each([
    ["reasoning_content", [{ reasoning_content: "a" }, { reasoning_content: "b" }]],
    ["reasoning", [{ reasoning: "a" }, { reasoning: "b" }]],
    [
      "both names at once",
      [
        { reasoning_content: "a", reasoning: "a" },
        { reasoning_content: "b", reasoning: "b" },
      ],
    ],
    ["parts", [{ content: [{ type: "thinking", thinking: [{ type: "text", text: "ab" }] }] }]],
  ] satisfies [string, JsonObject[]][])(
    "comes as %s, before the text, and names who thought",
    (_, deltas) => {
      expect(contentOf(...deltas.map((delta) => chunk(delta)), textChunk("so"), finish())).toEqual([
        { type: "thinking", text: "ab", model: "asked-model" },
        { type: "text", text: "so" },
      ]);
    },
  );

  test("between texts parts them", () => {
    const chunks = [textChunk("a"), chunk({ reasoning_content: "b" }), textChunk("c"), finish()];
    expect(contentOf(...chunks)?.map(({ type }) => type)).toEqual(["text", "thinking", "text"]);
  });
});

describe("the end", () => {
  test.each([
    ["stop", "end"],
    ["length", "output_limit"],
    ["content_filter", "refusal"],
    ["tool_calls", "end"],
    ["something new", "end"],
  ])("%s without calls is %s", (reason, stop) => {
    expect(endOf([textChunk("a"), finish(reason)])?.stop).toBe(stop);
  });

  test("comes with [DONE], or with a reason, or not at all", () => {
    expect(endOf([textChunk("a")], "done")?.stop).toBe("end");
    expect(endOf([textChunk("a"), finish()], "silent")?.stop).toBe("end");
    expect(endOf([textChunk("a")], "silent")).toBeUndefined();
    expect(endOf([], "done")).toBeUndefined();
  });

  test("has the count of the last chunk that has one; no count is made up", () => {
    expect(endOf([{ ...textChunk("a"), usage: null }, finish()])?.usage).toMatchObject({
      inputTokens: 0,
      outputTokens: 0,
    });
    const counted = [
      { ...textChunk("a"), usage: { prompt_tokens: 3, completion_tokens: 1 } },
      { ...finish(), usage: { prompt_tokens: 3, completion_tokens: 2 } },
    ];
    expect(endOf(counted)?.usage).toMatchObject({ inputTokens: 3, outputTokens: 2 });
  });

  test.each([
    [
      "hits and misses",
      { prompt_tokens: 10, prompt_cache_hit_tokens: 8 },
      { inputTokens: 2, cacheReadTokens: 8 },
    ],
    [
      "writes",
      { prompt_tokens: 10, prompt_tokens_details: { cached_tokens: 2, cache_write_tokens: 5 } },
      { inputTokens: 3, cacheReadTokens: 2, cacheWriteTokens: 5 },
    ],
    [
      "more cached than sent",
      { prompt_tokens: 10, prompt_tokens_details: { cached_tokens: 99, cache_write_tokens: 99 } },
      { inputTokens: 0, cacheReadTokens: 10, cacheWriteTokens: 0 },
    ],
    ["nonsense", { prompt_tokens: -1, completion_tokens: "many" }, { inputTokens: 0, outputTokens: 0 }],
    [
      "thoughts",
      { completion_tokens: 9, completion_tokens_details: { reasoning_tokens: 7 } },
      { outputTokens: 9, thinkingTokens: 7 },
    ],
  ])("reads a count with %s", (_, usage, read) => {
    expect(endOf([textChunk("a"), finish(), usageChunk(usage)])?.usage).toMatchObject(read);
  });

  test("is final: a chunk after it is refused, an error still heard", () => {
    const decoder = decoderFor();
    decoder.push(textChunk("a"));
    decoder.done();
    expect(() => decoder.push(textChunk("b"))).toThrow(/after the end/);
  });
});

describe("what is no part of a reply", () => {
  test.each([
    ["an error object", { error: { message: "busy", code: "x" } }, /busy/],
    ["an error in words", { error: "busy" }, /busy/],
    ["an error in place of a chunk", { object: "error", message: "busy", code: 400 }, /busy/],
  ])("%s is the provider's error", (_, wire, words) => {
    expect(() => decode([textChunk("a"), wire])).toThrow(words);
  });

  test("an error that is null is none", () => {
    expect(contentOf({ ...textChunk("a"), error: null }, finish())).toEqual([{ type: "text", text: "a" }]);
  });

  test.each([["text"], [1], [null], [[]]])("%j is malformed", (wire) => {
    expect(() => decode([wire])).toThrow(Fault);
  });

  test("chunks without a choice and choices of another reply are passed over", () => {
    const other = { ...chunk({}), choices: [{ index: 1, delta: { content: "x" } }] };
    expect(contentOf({ id: "", model: "", choices: [] }, other, textChunk("a"), finish())).toEqual([
      { type: "text", text: "a" },
    ]);
  });

  test("a reply without end is cut off at its bound", () => {
    const decoder = decoderFor();
    const long = textChunk("x".repeat(8 * 1024 * 1024));
    expect(() => {
      for (let at = 0; at < 5; at++) decoder.push(long);
    }).toThrow(/does not end/);
  });
});

describe("laws", () => {
  const anyCall = fc.record(
    {
      index: fc.constantFrom(0, 1, 2),
      id: fc.constantFrom("", "a", "b"),
      function: fc.record(
        {
          name: fc.constantFrom("", "Read"),
          arguments: fc.oneof(fc.string(), fc.constant("{}"), fc.constant({})),
        },
        { requiredKeys: [] },
      ),
    },
    { requiredKeys: [] },
  );
  const anyDelta = fc.record(
    {
      content: fc.oneof(fc.string(), fc.constant(null)),
      reasoning_content: fc.string(),
      tool_calls: fc.array(anyCall),
    },
    { requiredKeys: [] },
  );
  const anyChunk: fc.Arbitrary<Json> = fc.oneof(
    {
      weight: 5,
      arbitrary: fc
        .tuple(anyDelta, fc.constantFrom(null, "stop", "length", "tool_calls"))
        .map(([delta, reason]) => chunk(delta as JsonObject, { finish_reason: reason })),
    },
    fc.jsonValue() as fc.Arbitrary<Json>,
  );

  test("whatever chunks come, it ends once, waits or throws a fault; blocks open once, close once, and hold their deltas", () => {
    fc.assert(
      fc.property(fc.array(anyChunk), (chunks) => {
        let events: ModelEvent[];
        try {
          events = decode(chunks);
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(Fault);
          return;
        }
        const end = events.at(-1);
        if (end?.type !== "end") return;
        expect(events.filter(({ type }) => type === "end")).toHaveLength(1);
        const starts = events.flatMap((event) => (event.type === "block.start" ? [event.index] : []));
        const ends = events.flatMap((event) => (event.type === "block.end" ? [event.index] : []));
        expect(starts.toSorted()).toEqual(ends.toSorted());
        expect(new Set(starts).size).toBe(starts.length);
        expect(end.content).toHaveLength(starts.length);
        for (const event of events) {
          if (event.type !== "block.end" || event.block.type === "tool_use") continue;
          const joined = events.flatMap((one) =>
            (one.type === "text" || one.type === "thinking") && one.index === event.index ? [one.text] : [],
          );
          expect(event.block).toMatchObject({ text: joined.join("") });
        }
      }),
      { numRuns: 500 },
    );
  });
});
