import { mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Stamps, stampOf } from "./stamps.ts";

let file: string;
beforeEach(() => {
  file = path.join(mkdtempSync(path.join(tmpdir(), "keel-stamps-")), "large");
});
afterEach(() => rmSync(path.dirname(file), { recursive: true, force: true }));

const large = (sign: string): Buffer => Buffer.from(sign.repeat(300_000));
const stat = () => statSync(file, { bigint: true });
const minuteMs = 60_000;
/** As if the file had been written a minute ago. */
const later = (): Stamps => new Stamps(() => Date.now() + minuteMs);

describe("the stamp of a large file", () => {
  test("is remembered when the file was at rest: its bytes are not looked at again", () => {
    writeFileSync(file, large("a"));
    const stamps = later();
    const first = stamps.stampOf(readFileSync(file), stat());
    expect(first).toBe(stampOf(large("a")));
    // Other bytes with the same facts: only what is remembered can give the same stamp.
    expect(stamps.stampOf(large("b"), stat())).toBe(first);
  });

  test("is made anew after a change, also when size and time of change are put back", () => {
    writeFileSync(file, large("a"));
    const stamps = later();
    const before = stat();
    stamps.stampOf(large("a"), before);
    writeFileSync(file, large("b"));
    utimesSync(file, Number(before.atimeMs) / 1000, Number(before.mtimeMs) / 1000);
    expect(stamps.stampOf(readFileSync(file), stat())).toBe(stampOf(large("b")));
  });

  test("is not remembered while the file may still change within a tick of its clock", () => {
    writeFileSync(file, large("a"));
    const stamps = new Stamps();
    const facts = stat();
    stamps.stampOf(large("a"), facts);
    expect(stamps.stampOf(large("b"), facts)).toBe(stampOf(large("b")));
  });

  test("is made from its bytes when it grew while it was read, and when it is small", () => {
    writeFileSync(file, large("a"));
    const stamps = later();
    expect(stamps.stampOf(Buffer.concat([large("a"), large("a")]), stat())).toBe(
      stampOf(Buffer.concat([large("a"), large("a")])),
    );
    writeFileSync(file, "a");
    stamps.stampOf(Buffer.from("a"), stat());
    expect(stamps.stampOf(Buffer.from("b"), stat())).toBe(stampOf(Buffer.from("b")));
  });

  test("is that of its bytes, whichever bytes were stamped before", () => {
    const stamps = new Stamps();
    const almost = large("a");
    almost[299_999] = 0x62;
    const contents = [large("a"), large("a"), almost, large("a"), large("b"), Buffer.from("a")];
    expect(contents.map((bytes) => stamps.ofBytes(bytes))).toEqual(contents.map(stampOf));
  });
});
