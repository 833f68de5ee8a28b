// The words of the desktop, on a recorded log and on bad lines.
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import type { Envelope } from "../../protocol/event/envelope.ts";
import { text } from "../../protocol/message.ts";
import { noUsage } from "../../protocol/usage.ts";
import { type DesktopLine, noMemo, toLines } from "./dialect.ts";
import { readRequest } from "./requests.ts";
import { responseSchemas } from "./responses.ts";

const stamp = { at: 0, session: "s" };
const delta = (words: string): Envelope => ({
  ...stamp,
  type: "text.delta",
  requestId: "r",
  index: 0,
  text: words,
});
const started: Envelope = { ...stamp, seq: 1, type: "turn.started", turnId: "t", inputIds: ["i"] };
const finished = (...words: string[]): Envelope => ({
  ...stamp,
  seq: 2,
  type: "model.finished",
  requestId: "r",
  messageId: "m",
  model: "x",
  stop: "end",
  usage: noUsage,
  costUsd: 0,
  ms: 1,
  content: [
    ...words.map((word) => text(word)),
    { type: "tool_use", id: "c", name: "Read", input: { file_path: "a" } },
  ],
});

function tell(envelopes: readonly Envelope[]): { lines: DesktopLine[]; said: string } {
  let memo = noMemo;
  const lines: DesktopLine[] = [];
  for (const envelope of envelopes) {
    const [told, next] = toLines(envelope, memo);
    lines.push(...told);
    memo = next;
  }
  for (const { inputId: id, ...line } of lines) {
    const whole = { ...line, id, conversation_id: "c", timestamp: 1 };
    expect(responseSchemas.get(line.type)?.safeParse(whole)).toMatchObject({ success: true });
  }
  return { lines, said: memo.said };
}

describe("the dialect of the desktop", () => {
  test("pieces are tokens of the input whose turn it is; a reply that did not stream is told as a whole", () => {
    verifies("S1.6", "S1.36");
    const streamed = tell([started, delta("Hel"), delta("lo."), finished("Hello.")]);
    expect(streamed.lines).toMatchObject([
      { type: "token", token: "Hel", inputId: "i" },
      { type: "token", token: "lo.", inputId: "i" },
      { type: "tool_use", data: { toolId: "c", toolName: "Read", input: { file_path: "a" } } },
    ]);
    expect(streamed.said).toBe("Hello.");
    expect(tell([started, finished("Whole.")]).lines[0]).toMatchObject({ type: "token", token: "Whole." });
  });

  test("a reply that failed takes its tokens back, once, and only if there were any", () => {
    const fault = { code: "stream_cut", message: "cut" } as const;
    const withdrawn: Envelope = { ...stamp, type: "reply.withdrawn", requestId: "r", why: fault };
    expect(tell([started, delta("Ha"), withdrawn, withdrawn]).lines.map(({ type }) => type)).toEqual([
      "token",
      "withdrawn",
    ]);
  });

  test("of an agent its calls are told with its id, and its words are not", () => {
    const origin = { agentId: "agent-1", parentCallId: "call-1", kind: "explore", depth: 1 };
    const { lines } = tell([started, { ...delta("secret"), origin }, { ...finished("secret"), origin }]);
    expect(lines).toMatchObject([{ type: "tool_use", data: { agentId: "agent-1" } }]);
  });
});

describe("a request", () => {
  const read = (line: string) => readRequest({ ok: true, line });

  test("may carry its pictures as a list or as the text of one, and nothing where a shell sends null", () => {
    verifies("S1.35", "S1.36");
    const images = [{ data: "AAAA", mime_type: "image/png" }];
    const said = { id: "1", kind: "user_message", message: "x" };
    for (const given of [images, JSON.stringify(images)])
      expect(read(JSON.stringify({ ...said, images: given }))).toMatchObject({ ok: true, value: { images } });
    for (const given of [null, "", "[]", []])
      expect(read(JSON.stringify({ ...said, images: given }))).toMatchObject({
        ok: true,
        value: { images: [] },
      });
  });

  test.each([
    ["a picture with a prefix", { images: [{ data: "data:image/png;base64,AAAA", mime_type: "image/png" }] }],
    ["a picture of another kind", { images: [{ data: "AAAA", mime_type: "image/bmp" }] }],
    ["a text that is no list", { images: '{"data":1}' }],
    ["no words and no picture", { message: "  " }],
    ["a limit of nothing", { timeout_ms: 0 }],
  ])("with %s is refused under its id", (_, fields) => {
    const line = JSON.stringify({ id: "7", kind: "user_message", message: "x", ...fields });
    expect(read(line)).toMatchObject({ ok: false, error: { code: "bad_field", id: "7" } });
  });

  test("whose id cannot be read is answered without one", () => {
    expect(read('{"id":5,"kind":"interrupt"}')).toMatchObject({ ok: false, error: { code: "bad_field" } });
    expect(read('{"id":5,"kind":"interrupt"}')).not.toHaveProperty("error.id", "5");
    expect(read(" \t")).toBeUndefined();
  });
});
