import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { OutputFile } from "./output-file.ts";
import { OutputRecorder } from "./recorder.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), "keel-output-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));
const file = () => path.join(directory, "out");
const read = () => readFileSync(file(), "utf8");
const bytes = (text: string) => Buffer.from(text);

test("what comes is in the file at once, and only its owner may read it", () => {
  const output = new OutputFile(file());
  output.add(bytes("one\n"));
  expect(read()).toBe("one\n");
  output.add(bytes("two\n"));
  output.close();
  expect(read()).toBe("one\ntwo\n");
  expect(statSync(file()).mode & 0o777).toBe(0o600);
  expect(output.problem).toBeUndefined();
});

test("a full file says so; at the end the newest part stands there with the number of missing bytes", () => {
  const output = new OutputFile(file(), { headBytes: 10, tailBytes: 6 });
  output.add(bytes("0123456"));
  output.add(bytes("789abcdef"));
  expect(read()).toMatch(/^0123456789\n\n\[… this file is full; .* …\]\n\n$/);
  output.add(bytes("XYZ"));
  output.close();
  expect(read()).toBe("0123456789\n\n[… 3 bytes left out …]\n\ndefXYZ");
});

test("what fits into head and tail together is whole", () => {
  const output = new OutputFile(file(), { headBytes: 4, tailBytes: 6 });
  output.add(bytes("0123456"));
  output.add(bytes("789"));
  output.close();
  expect(read()).toBe("0123456789");
});

test("a disk that takes nothing is a fact, not a failure", () => {
  const output = new OutputFile("/dev/full");
  output.add(bytes("lost"));
  output.close();
  expect(output.problem).toBe("ENOSPC");
  expect(new OutputFile(path.join(directory, "no", "such")).problem).toBe("ENOENT");
});

test("a command that is moved to the background brings what it wrote before", () => {
  const recorder = new OutputRecorder({ maxBytes: 1_000 });
  recorder.add(bytes("before\n"));
  recorder.saveTo(file());
  recorder.add(bytes("after\n"));
  expect(recorder.close()).toBeUndefined();
  expect(read()).toBe("before\nafter\n");
  expect(recorder.soFar().output).toBe("before\nafter\n");
});
