import { execFileSync } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { hasLostReader } from "./lost-reader.ts";

test("a pipe without a reader is noticed although nothing is written to it", () => {
  const directory = mkdtempSync(path.join(tmpdir(), "keel-reader-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const name = path.join(directory, "pipe");
  execFileSync("mkfifo", [name]);
  const read = openSync(name, constants.O_RDONLY | constants.O_NONBLOCK);
  const write = openSync(name, constants.O_WRONLY);
  expect(hasLostReader(write)).toBe(false);
  closeSync(read);
  expect(hasLostReader(write)).toBe(true);
  closeSync(write);
});

test("a file, and what is not there at all, have lost nobody", () => {
  const file = openSync("/dev/null", "w");
  expect(hasLostReader(file)).toBe(false);
  closeSync(file);
  expect(hasLostReader(9_999)).toBe(false);
});
