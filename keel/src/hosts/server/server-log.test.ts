import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ServerLog } from "./server-log.ts";

async function logIn(bounds: { maxBytes?: number; maxFiles?: number } = {}) {
  const folder = await mkdtemp(path.join(tmpdir(), "keel-log-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = path.join(folder, "logs", "server.log");
  return { file, log: new ServerLog({ file, now: () => 1_000, ...bounds }), folder: path.dirname(file) };
}

test("a line says when, what and of whom, in a file of the person's own", async () => {
  const { file, log } = await logIn();
  log.say("client.came", { device: "own", clients: 2 });
  log.say("server.stopped");
  await log.flushed();
  expect(await readFile(file, "utf8")).toBe(
    "1970-01-01T00:00:01.000Z client.came device=own clients=2\n1970-01-01T00:00:01.000Z server.stopped\n",
  );
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await stat(path.dirname(file))).mode & 0o777).toBe(0o700);
});

test("nothing that could be somebody's words gets in", async () => {
  const { file, log } = await logIn();
  const words = ["please delete it", "a\nb", "“q”", "x".repeat(81), "/home/me/secret", "", "k=v"];
  for (const word of words) log.say("call.failed", { word });
  await log.flushed();
  const lines = (await readFile(file, "utf8")).trim().split("\n");
  expect(lines).toEqual(words.map(() => "1970-01-01T00:00:01.000Z call.failed word=?"));
});

test("old lines make room: so many files of such a size, all private", async () => {
  const { log, folder } = await logIn({ maxBytes: 2_000, maxFiles: 3 });
  for (let line = 0; line < 1_000; line++) {
    log.say("session.opened", { line });
    if (line % 50 === 0) await log.flushed();
  }
  await log.flushed();
  const names = (await readdir(folder)).sort();
  expect(names).toEqual(["server.log", "server.log.1", "server.log.2"].slice(0, names.length));
  expect(names.length).toBeGreaterThan(1);
  for (const name of names) {
    const { size, mode } = await stat(path.join(folder, name));
    expect(size).toBeLessThanOrEqual(2_000 + 100);
    expect(mode & 0o777).toBe(0o600);
  }
  const newest = await Promise.all(names.map((name) => readFile(path.join(folder, name), "utf8")));
  expect(newest.join("")).toContain("line=999");
});

test("a disk that does not keep up costs lines, which are counted, and never the server's time", async () => {
  const { file, log } = await logIn();
  for (let line = 0; line < 5_000; line++) log.say("session.opened", { line });
  await log.flushed();
  const text = await readFile(file, "utf8");
  expect(text).toContain("log.left-out lines=4000");
  expect(text.split("\n").length).toBe(1_000 + 1 + 1);
});

test("a place where nothing can be written is no fault of the server", async () => {
  const { file, log } = await logIn();
  await writeFile(path.dirname(file), "a file where a folder should be");
  log.say("server.started");
  await log.flushed();
  expect(await readFile(path.dirname(file), "utf8")).toBe("a file where a folder should be");
});
