// Lines of a host: what counts as blank, what is refused, and which fault is named.
import { describe, expect, test } from "vitest";
import { lineReader } from "../../transport/lines.ts";
import { readInput } from "./inputs.ts";

const readAll = (text: string) =>
  lineReader({ maxBytes: 1_000_000 }).push(new TextEncoder().encode(text)).map(readInput);

describe("a line of a host", () => {
  test("is blank when it has nothing but what JSON calls white space", () => {
    expect(readAll(" \t \r\n\n")).toEqual([undefined, undefined]);
  });

  test.each(["\u00a0", "\u2003", "\u3000", "\u2028", "\u000b", " \ufeff"])(
    "that is made of %j is refused",
    (sign) => {
      expect(readAll(`{"type":"interrupt"}\n${sign}\n`)[1]).toMatchObject({ error: { code: "bad_json" } });
    },
  );

  test("may begin with a byte-order mark only if it is the first", () => {
    const [first, second, third] = readAll('\ufeff{"type":"stop"}\n\ufeff{"type":"stop"}\n\ufeff\n');
    expect(first).toMatchObject({ ok: true });
    expect(second).toMatchObject({ error: { code: "bad_json" } });
    expect(third).toMatchObject({ error: { code: "bad_json" } });
  });

  test.each([
    ["longer than any name", "m".repeat(257)],
    ["of two lines", "a\nb"],
    ["with a sign that ends a line elsewhere", "a\u2028b"],
    ["with a control sign", "a\u001bb"],
    ["empty", ""],
  ])("names no model that is %s", (_, model) => {
    const line = JSON.stringify({ type: "set_model", model });
    expect(readAll(`${line}\n`)).toMatchObject([{ error: { code: "bad_field" } }]);
  });

  test("names a model of 256 signs", () => {
    const line = JSON.stringify({ type: "set_model", model: "m".repeat(256) });
    expect(readAll(`${line}\n`)).toMatchObject([{ ok: true }]);
  });

  test("with two faults is answered with the field that its form names first", () => {
    const line = '{"attachments":3,"content":5,"id":"no uuid","type":"message"}\n';
    expect(readAll(line)).toMatchObject([{ error: { message: expect.stringContaining("message: id:") } }]);
    const answer = '{"approved":"yes","requestId":"","type":"tool_approval_response"}\n';
    expect(readAll(answer)).toMatchObject([{ error: { message: expect.stringContaining(": requestId:") } }]);
  });
});
