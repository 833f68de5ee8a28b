import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { envelopes, ids, said } from "../../testing/store-suite-events.ts";
import { checkLine, decodeLine, encodeHeader, encodeRecord } from "./line.ts";

const [session] = ids;
const [record] = envelopes(session, [said("hello \u2028\u0000 é")]);
if (!record) throw new Error("there is a record");
const line = encodeRecord(record);

describe("a line of a log", () => {
  test("is one JSON object that ends with its checksum and LF", () => {
    const text = line.toString();
    expect(text).toMatch(
      /^\{"seq":1,"at":\d+,"session":"[0-9a-f-]+","type":"input.accepted",.*,"sum":"[0-9a-f]{8}"\}\n$/,
    );
    expect(text.indexOf("\n")).toBe(text.length - 1);
    for (const mark of ["\u0000", "\u2028", "\u2029"]) expect(text).not.toContain(mark);
    expect(JSON.parse(text)).toMatchObject(record);
  });

  test("says its number without being parsed, and decodes to what was encoded", () => {
    const bytes = line.subarray(0, -1);
    expect(checkLine(bytes)).toEqual({ kind: "record", seq: 1 });
    expect(decodeLine(bytes)).toEqual(record);
  });

  test("has the same number of bytes for the checksum, also when it starts with zeros", () => {
    const sums = Array.from({ length: 2_000 }, (_, at) =>
      encodeRecord({ ...record, at })
        .subarray(-19)
        .toString(),
    );
    expect(sums.every((sum) => /^,"sum":"[0-9a-f]{8}"\}\n$/.test(sum))).toBe(true);
    expect(sums.some((sum) => sum.startsWith(',"sum":"0'))).toBe(true);
  });

  test("is not whole once any byte of it is changed or cut", () => {
    const bytes = line.subarray(0, -1);
    for (let index = 0; index < bytes.length; index++) {
      const changed = Buffer.from(bytes);
      changed[index] = (changed[index] ?? 0) ^ 1;
      expect(checkLine(changed), `byte ${index} changed`).toBeUndefined();
      expect(checkLine(bytes.subarray(0, index)), `cut to ${index}`).toBeUndefined();
    }
  });

  test("keeps any text", () => {
    const anyText = fc.string({ unit: "binary" });
    fc.assert(
      fc.property(anyText, (text) => {
        const [event] = envelopes(session, [said(text)], 41);
        if (!event) return;
        const bytes = encodeRecord(event);
        expect(bytes.indexOf("\n")).toBe(bytes.length - 1);
        expect(checkLine(bytes.subarray(0, -1))).toEqual({ kind: "record", seq: 42 });
        expect(decodeLine(bytes.subarray(0, -1))).toEqual(event);
      }),
    );
  });
});

describe("a header", () => {
  const header = encodeHeader({ session, cwd: "/project", at: 5 }).subarray(0, -1);

  test("names the format", () => {
    expect(checkLine(header)).toEqual({
      kind: "header",
      header: { keel: "log", v: 1, session, cwd: "/project", at: 5 },
    });
  });

  test("of a format to come is understood as far as its version", () => {
    expect(checkLine(Buffer.from('{"keel":"log","v":7,"hash":"sha3"}'))).toEqual({
      kind: "header",
      header: { keel: "log", v: 7 },
    });
  });

  test("whose checksum is wrong says nothing", () => {
    expect(checkLine(Buffer.from(header.toString().replace('"v":1', '"v":9')))).toBeUndefined();
  });

  test.each([
    '{"keel":"log"}',
    '{"keel":"log","v":"1"}',
    '{"keel":"log","v":0}',
    '{"keel":"other","v":1}',
    '{"keel":',
  ])("is not %s", (text) => {
    expect(checkLine(Buffer.from(text))).toBeUndefined();
  });
});
