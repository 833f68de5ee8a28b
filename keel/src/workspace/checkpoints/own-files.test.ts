import { hash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { nodeFiles } from "../files/files.ts";
import { nodeCheckpoints } from "./checkpoints.ts";

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-own-files-")));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const open = (home: string) =>
  nodeCheckpoints({ home, root, files: nodeFiles({ cwd: root, roots: [root] }), now: Date.now });

const keptIn = (home: string): string[] =>
  existsSync(path.join(home, "blobs"))
    ? readdirSync(path.join(home, "blobs"), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ name }) => name)
    : [];

test("Keel's own files are not kept, where its home lies inside the folder", async () => {
  const home = path.join(root, ".keel");
  mkdirSync(home);
  writeFileSync(path.join(home, "a-log.jsonl"), "what was said");
  writeFileSync(path.join(root, "mine.txt"), "mine");
  const checkpoints = open(home);
  await checkpoints.prepare("first", new AbortController().signal);
  expect(keptIn(home)).toHaveLength(1);
});

test("the end waits for a look that goes on, which leaves nothing half written", async () => {
  for (let number = 0; number < 200; number++)
    writeFileSync(path.join(root, `${number}`), `content ${number}`);
  const home = `${root}-home`;
  try {
    const checkpoints = open(home);
    void checkpoints.prepare("first", new AbortController().signal);
    await checkpoints.close();
    const atTheEnd = keptIn(home);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(keptIn(home)).toEqual(atTheEnd);
    expect(atTheEnd.filter((name) => name.includes("."))).toEqual([]);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});

test("what a killed process left half written is cleared away, and what is young is not", async () => {
  const home = path.join(root, ".keel");
  const part = path.join(home, "blobs", "ab");
  mkdirSync(part, { recursive: true });
  for (const name of ["old", "young"]) writeFileSync(path.join(part, `ab.${name}`), "half");
  utimesSync(path.join(part, "ab.old"), 1, 1);
  await open(home).close();
  expect(keptIn(home)).toEqual(["ab.young"]);
});

test("the next session reads only what has changed since, and what is gone from the store", async () => {
  const home = `${root}-home`;
  const blobOf = (content: string): string => hash("sha256", content, "hex");
  const fileOf = (content: string): string =>
    path.join(home, "blobs", blobOf(content).slice(0, 2), blobOf(content));
  try {
    for (const name of ["same", "changed", "gone"]) writeFileSync(path.join(root, name), name);
    const first = open(home);
    await first.prepare("first", new AbortController().signal);
    await first.close();
    rmSync(fileOf("gone"));
    writeFileSync(path.join(root, "changed"), "another");
    // A content that nobody reads again cannot be noticed as missing: so it is seen that nobody did.
    utimesSync(fileOf("same"), 1, 1);

    const second = open(home);
    await second.prepare("second", new AbortController().signal);
    expect(keptIn(home).sort()).toEqual(["same", "changed", "gone", "another"].map(blobOf).sort());
    expect(statSync(fileOf("same")).mtimeMs).toBe(1_000);
    writeFileSync(path.join(root, "same"), "no longer");
    expect(await second.changes(new AbortController().signal)).toEqual([
      { path: path.join(root, "same"), blob: blobOf("same") },
    ]);
    await second.close();
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});

test("a content that was dropped before a command changed its file is told as lost, and not promised", async () => {
  const home = `${root}-home`;
  try {
    writeFileSync(path.join(root, "a"), "before");
    const checkpoints = open(home);
    await checkpoints.prepare("first", new AbortController().signal);
    rmSync(path.join(home, "blobs"), { recursive: true });
    writeFileSync(path.join(root, "a"), "after it");
    expect(await checkpoints.changes(new AbortController().signal)).toEqual([
      { path: path.join(root, "a"), lost: true },
    ]);
    // The same content again, in the folder that is gone with it.
    writeFileSync(path.join(root, "b"), "before");
    expect(await checkpoints.backUp(path.join(root, "b"))).toEqual({
      path: path.join(root, "b"),
      blob: hash("sha256", "before", "hex"),
    });
    await checkpoints.close();
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});
