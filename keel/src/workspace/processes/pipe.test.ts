import {
  closeSync,
  fstatSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  readSync,
  realpathSync,
  rmSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { plainEnvironment } from "../../../../test/support/real-shell.ts";
import { pipes } from "./pipe.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), "keel-pipe-"));
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(directory, { recursive: true, force: true });
});
const environment = () => ({ ...plainEnvironment, TMPDIR: directory });

test("a pipe carries bytes and has no name in the file system", async () => {
  const openPipe = pipes(environment());
  const many = await Promise.all(Array.from({ length: 9 }, () => openPipe()));
  const ends = many.flatMap((pipe) => (pipe ? [pipe.read, pipe.write] : []));
  expect(new Set(ends).size).toBe(18);
  for (const pipe of many) {
    const { read = -1, write = -1 } = pipe ?? {};
    expect(fstatSync(read).isFIFO()).toBe(true);
    writeSync(write, "hello");
    expect(readSync(read, Buffer.alloc(9))).toBe(5);
  }
  expect(readdirSync(directory)).toEqual([]);
  for (const end of ends) closeSync(end);
});

test("where none can be made there is none, and nothing is left behind", async () => {
  expect(await pipes({ ...environment(), PATH: directory })()).toBeUndefined();
  expect(await pipes({ ...environment(), TMPDIR: path.join(directory, "missing") })()).toBeUndefined();
  expect(readdirSync(directory)).toEqual([]);
});

test("Bun, which would read nothing from it, is given none", async () => {
  expect(await pipes(environment(), { bun: "1.4.4" })()).toBeUndefined();
  expect(readdirSync(directory)).toEqual([]);
});

test("spare pipes do not stay open", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const openPipe = pipes(environment());
  await openPipe();
  expect(openEnds()).toBeGreaterThan(2);
  vi.advanceTimersByTime(60_000);
  expect(openEnds()).toBe(2);
  expect(await openPipe()).toBeDefined();
});

/** Those of pipes that were made in the folder of this test: what ran before it in this process may still be closing others. */
const openEnds = (): number =>
  readdirSync("/proc/self/fd").filter((descriptor) => nameOf(descriptor).startsWith(realpathSync(directory)))
    .length;

function nameOf(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return ""; // It was closed since it was listed.
  }
}
