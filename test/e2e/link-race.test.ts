// G32: another process swaps a directory for a link to the outside and back, while tools write, read and search in it.
// Whatever the moment, nothing appears outside, and nothing from outside comes back.
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Search, TextSearchRequest } from "../../keel/src/ports/search.ts";
import type { Files } from "../../keel/src/ports/workspace.ts";
import { nodeFiles } from "../../keel/src/workspace/files/files.ts";
import { nodeSearch } from "../../keel/src/workspace/search/search.ts";
import { budgets, countOf } from "../support/budget.ts";
import { swapWithLink } from "../support/link-swap.ts";
import { verifies } from "../support/verifies.ts";

let base = "";
let project = "";
let outside = "";
let files: Files;
let search: Search;
const signal = new AbortController().signal;
const secret = "what nobody may read";

beforeEach(() => {
  base = fs.realpathSync(fs.mkdtempSync(path.join(tmpdir(), "keel-race-")));
  [project, outside] = [path.join(base, "project"), path.join(base, "outside")];
  fs.mkdirSync(path.join(project, "d"), { recursive: true });
  fs.mkdirSync(outside);
  fs.writeFileSync(path.join(project, "d/known.txt"), "harmless");
  files = nodeFiles({ cwd: project, roots: [project] });
  search = nodeSearch({ env: {} });
});
afterEach(() => fs.rmSync(base, { recursive: true, force: true }));

const directory = (): string => path.join(project, "d");

/** What `act` says of each try; it is called while the directory is swapped. */
async function race(
  tries: number,
  act: (at: number) => Promise<boolean>,
  { restMs = 0 }: { restMs?: number } = {},
): Promise<{ done: number; not: number }> {
  const swapping = await swapWithLink(directory(), outside, { restMs });
  const ends = { done: 0, not: 0 };
  // A refusal may come at once: it goes on until something was done as well, within bounds.
  const goesOn = (at: number): boolean => at < tries || (ends.done === 0 && at < tries * 100);
  for (let at = 0; goesOn(at); at++) ends[(await act(at)) ? "done" : "not"]++;
  await swapping.stop();
  return ends;
}

const timeout = budgets["link-race"].seconds * 1_000 * (process.env["KEEL_TEST_COUNTS"] === "full" ? 60 : 3);

test("nothing is written outside", { timeout }, async () => {
  verifies("G32");
  const ends = await race(countOf("link-race"), async (at) => {
    const written = await files.write(path.join(directory(), `x${at % 50}.txt`), Buffer.from("x"));
    return written.ok;
  });
  expect(fs.readdirSync(outside)).toEqual([]);
  // Otherwise the race was none.
  expect(ends.done).toBeGreaterThan(0);
  expect(ends.not).toBeGreaterThan(0);
});

test("nothing from outside is read: what is found is what was decided about", { timeout }, async () => {
  verifies("G32");
  fs.writeFileSync(path.join(outside, "known.txt"), secret);
  const decided = path.join(directory(), "known.txt");
  let escaped = 0;
  const ends = await race(Math.ceil(countOf("link-race") / 2), async () => {
    const read = await files.read(decided, { maxBytes: 1_000 });
    // A reader is told the path of what it got: only what lies elsewhere may have other text.
    if (read.ok && read.file.path === decided && Buffer.from(read.file.bytes).toString() === secret)
      escaped++;
    return read.ok && read.file.path === decided;
  });
  expect(escaped).toBe(0);
  expect(ends.done).toBeGreaterThan(0);
});

test("nothing from outside is found", { timeout }, async () => {
  verifies("G32");
  fs.writeFileSync(path.join(outside, "secret.txt"), secret);
  const wish: TextSearchRequest = {
    target: directory(),
    pattern: secret,
    mode: "lines",
    before: 0,
    after: 0,
    letterCase: "exact",
    lines: "each",
    show: "line",
    timeoutMs: 5_000,
    maxBytes: 10_000,
  };
  const found: string[] = [];
  const ends = await race(
    Math.ceil(countOf("link-race") / 20),
    async () => {
      const listed = await search.files({ directory: directory(), rests: ["**"], timeoutMs: 5_000 }, signal);
      const text = await search.text(wish, signal);
      if (listed.ok) found.push(...listed.paths.map((file) => path.basename(file)));
      if (text.ok) found.push(...text.files.map((file) => path.basename(file.path)));
      return listed.ok;
    },
    { restMs: 20 },
  );
  expect(found).not.toContain("secret.txt");
  expect(ends.done).toBeGreaterThan(0);
  expect(ends.not).toBeGreaterThan(0);
});
