import { describe, expect, test } from "vitest";
import { call, callChunk, chunk, finish, textChunk } from "../../../../test/support/openai-wire.ts";
import { fault } from "../../kernel/fault.ts";
import type { Json } from "../../kernel/json.ts";
import type { ModelEvent } from "../../ports/model.ts";
import { chatDecoder } from "./decode.ts";

function decode(chunks: readonly Json[]): ModelEvent[] {
  const decoder = chatDecoder({
    model: "asked-model",
    nameOf: (name) => name,
    errorOf: () => fault("server_error", { reason: "no" }),
  });
  const events = chunks.flatMap((one) => decoder.push(one));
  decoder.done();
  return [...events, ...decoder.finish()];
}

const endOf = (chunks: readonly Json[]) => decode(chunks).find((event) => event.type === "end");
const contentOf = (...chunks: Json[]) => endOf(chunks)?.content;

describe("calls", () => {
  const read = (id: string, path: string) => ({ type: "tool_use", id, name: "Read", input: { path } });

  test("come in pieces, by their number", () => {
    const events = decode([
      textChunk("I read."),
      callChunk(call({ index: 0, id: "c1", name: "Read", args: "" })),
      callChunk(call({ index: 0, args: '{"pa' })),
      callChunk(call({ index: 0, args: 'th":"a"}' })),
      finish("tool_calls"),
    ]);
    expect(events.slice(3)).toEqual([
      { type: "block.end", index: 0, block: { type: "text", text: "I read." } },
      { type: "block.start", index: 1, block: { type: "tool_use", id: "c1", name: "Read", input: {} } },
      { type: "call", index: 1, json: '{"pa' },
      { type: "call", index: 1, json: 'th":"a"}' },
      { type: "block.end", index: 1, block: read("c1", "a") },
      expect.objectContaining({ type: "end", stop: "tool_use" }),
    ]);
  });

  test("come between each other's pieces", () => {
    expect(
      contentOf(
        callChunk(
          call({ index: 0, id: "c1", name: "Read", args: '{"path"' }),
          call({ index: 1, id: "c2", name: "Read", args: '{"pa' }),
        ),
        callChunk(call({ index: 1, args: 'th":' })),
        callChunk(call({ index: 0, args: ':"a"}' }), call({ index: 1, args: '"b"}' })),
        finish("tool_calls"),
      ),
    ).toEqual([read("c1", "a"), read("c2", "b")]);
  });

  test("come whole in one chunk, and with their input as an object", () => {
    expect(
      contentOf(
        callChunk(
          call({ index: 0, id: "c1", name: "Read", args: '{"path":"a"}' }),
          call({ index: 1, id: "c2", name: "Read", args: { path: "b" } }),
        ),
        finish("stop"),
      ),
    ).toEqual([read("c1", "a"), read("c2", "b")]);
  });

  test("have a name that comes late, in pieces, or with every piece", () => {
    expect(
      contentOf(
        callChunk(call({ index: 0, id: "c1", args: '{"path":' })),
        callChunk(call({ index: 0, name: "Read", args: '"a"}' })),
        callChunk(call({ index: 1, id: "c2", name: "Re" })),
        callChunk(call({ index: 1, name: "ad", args: '{"path":"b"}' })),
        callChunk(call({ index: 2, id: "c3", name: "Read", args: '{"path"' })),
        callChunk(call({ index: 2, id: "c3", name: "Read", args: ':"c"}' })),
        finish("tool_calls"),
      ),
    ).toEqual([read("c1", "a"), read("c2", "b"), read("c3", "c")]);
  });

  test("without a number are told apart by their ids, and pieces without either belong to the last", () => {
    expect(
      contentOf(
        callChunk(call({ id: "c1", name: "Read", args: '{"path":' })),
        callChunk(call({ args: '"a"}' })),
        callChunk(call({ id: "c2", name: "Read", args: '{"path":"b' })),
        callChunk(call({ id: "c2", args: '"}' })),
        finish("tool_calls"),
      ),
    ).toEqual([read("c1", "a"), read("c2", "b")]);
  });

  test("that all have the number 0 are told apart by their ids, or by a whole input before them", () => {
    expect(
      contentOf(
        callChunk(call({ index: 0, id: "c1", name: "Read", args: '{"path":"a"}' })),
        callChunk(call({ index: 0, id: "c2", name: "Read", args: '{"path":' })),
        callChunk(call({ index: 0, id: "c2", name: "Read", args: '"b"}' })),
        finish("tool_calls"),
      ),
    ).toEqual([read("c1", "a"), read("c2", "b")]);
    const withoutIds = contentOf(
      callChunk(call({ index: 0, id: "", name: "Read", args: '{"path":"a"}' })),
      callChunk(call({ index: 0, id: "", name: "Read", args: '{"path":"b"}' })),
      finish("tool_calls"),
    );
    expect(withoutIds?.map((block) => block.type === "tool_use" && block.input)).toEqual([
      { path: "a" },
      { path: "b" },
    ]);
  });

  test("that a server says once more at their end are the same calls", () => {
    const whole = call({ index: 0, id: "c1", name: "Read", args: '{"path":"a"}' });
    expect(contentOf(callChunk(whole), callChunk(whole), finish("tool_calls"))).toEqual([read("c1", "a")]);
  });

  test("without ids get ids that are made from the reply's own, always the same", () => {
    const chunks = [
      callChunk(call({ index: 0, name: "Read", args: "{}" }), call({ index: 1, name: "Read", args: "{}" })),
      finish(),
    ];
    const ids = contentOf(...chunks)?.map((block) => block.type === "tool_use" && block.id);
    expect(new Set(ids).size).toBe(2);
    expect(ids).toEqual(contentOf(...chunks)?.map((block) => block.type === "tool_use" && block.id));
    for (const id of ids ?? []) expect(id).toMatch(/^call_[0-9a-f]{16}_[01]$/);
  });

  test("of the wire's first version are calls too", () => {
    expect(
      endOf([
        chunk({ function_call: { name: "Read", arguments: '{"path":' } }),
        chunk({ function_call: { arguments: '"a"}' } }),
        finish("function_call"),
      ]),
    ).toMatchObject({ stop: "tool_use", content: [{ name: "Read", input: { path: "a" } }] });
  });

  test("without arguments have an empty input, unless the reply was cut off before they came", () => {
    const bare = callChunk(call({ index: 0, id: "c1", name: "Look" }));
    expect(contentOf(bare, finish("tool_calls"))).toEqual([
      { type: "tool_use", id: "c1", name: "Look", input: {} },
    ]);
    expect(contentOf(bare, finish("length"))).toEqual([
      { type: "tool_use", id: "c1", name: "Look", input: {}, broken: "" },
    ]);
  });

  test("that are not quite JSON are mended with a note, and those that are not at all are kept as they came", () => {
    const withArgs = (args: string, reason = "tool_calls") =>
      contentOf(callChunk(call({ index: 0, id: "c1", name: "Read", args })), finish(reason))?.[0];
    expect(withArgs('{"path":"a",}')).toEqual({ ...read("c1", "a"), repaired: '{"path":"a",}' });
    expect(withArgs('{"path":"a"')).toEqual({ ...read("c1", "a"), repaired: '{"path":"a"' });
    expect(withArgs('{"path":"a"', "length")).toMatchObject({ input: {}, broken: '{"path":"a"' });
    expect(withArgs('{"path":"a')).toMatchObject({ input: {}, broken: '{"path":"a' });
    expect(withArgs("[1]")).toMatchObject({ input: {}, broken: "[1]" });
  });

  test("without any name cannot be run, and the reply is no reply", () => {
    expect(() => contentOf(callChunk(call({ index: 0, id: "c1", args: "{}" })), finish())).toThrow(
      /without a name/,
    );
  });
});
