import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openTestSession, type TestSession } from "../../../../test/support/test-session.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import type { Receipt } from "../../protocol/command.ts";
import { memoryWorkspace } from "../../testing/memory-workspace.ts";
import { reply, toolUse } from "../../testing/reply.ts";
import type { Reply } from "../../testing/script.ts";
import { builtInTools } from "../../tools/catalog.ts";
import { nodeFiles } from "../files/files.ts";
import { nodeShell } from "../processes/shell.ts";
import { nodeCheckpoints } from "./checkpoints.ts";
import type { SnapshotBounds } from "./snapshot.ts";

let folder: string;
let project: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-checkpoints-")));
  project = path.join(folder, "project");
  mkdirSync(project);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const put = (name: string, content: string): void => writeFileSync(path.join(project, name), content);
const get = (name: string): string | undefined =>
  existsSync(path.join(project, name)) ? readFileSync(path.join(project, name), "utf8") : undefined;
const input = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
const bash = (command: string) => toolUse("Bash", { command });

async function open(replies: Reply[], { bounds }: { bounds?: SnapshotBounds } = {}): Promise<TestSession> {
  const files = nodeFiles({ cwd: project, roots: [project] });
  const checkpoints = nodeCheckpoints({
    home: path.join(folder, "home"),
    root: project,
    files,
    now: Date.now,
    bounds,
  });
  const clock = { now: () => Date.now(), monotonicMs: () => performance.now(), sleep: realSleep };
  const base = memoryWorkspace({ cwd: project });
  const workspace = {
    ...base,
    cwd: project,
    roots: [project],
    files,
    shell: nodeShell({ env: { PATH: process.env["PATH"] ?? "" } }),
  };
  return openTestSession({ script: { replies }, tools: builtInTools(), workspace, checkpoints, clock });
}

function realSleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(resolve, ms);
    const stop = (): void => {
      clearTimeout(timer);
      resolve();
    };
    signal.addEventListener("abort", stop, { once: true });
  });
}

const rewind = ({ session }: TestSession, checkpoint: string, preview = false): Promise<Receipt> =>
  session.submit({ type: "rewind", checkpoint, preview });

describe("a rewind", () => {
  test("takes back what file tools changed, from any message on, and can itself be taken back", async () => {
    verifies("S2.43", "S0.32", "P2");
    put("a.txt", "one\n");
    const read = toolUse("Read", { file_path: path.join(project, "a.txt") });
    const edit = (from: string, to: string) =>
      toolUse("Edit", { file_path: path.join(project, "a.txt"), old_string: from, new_string: to });
    const opened = await open([
      reply(read),
      reply(edit("one", "two")),
      reply("Done."),
      reply(edit("two", "three")),
      reply("Done."),
      reply(
        toolUse("Edit", { file_path: path.join(project, "new.txt"), old_string: "", new_string: "new\n" }),
      ),
      reply("Done."),
    ]);
    for (const number of [1, 2, 3]) await opened.say(`turn ${number}`, { id: input(number) });
    expect([get("a.txt"), get("new.txt")]).toEqual(["three\n", "new\n"]);

    expect(await rewind(opened, input(2), true)).toMatchObject({
      preview: true,
      files: [
        { insertions: 1, deletions: 1 },
        { insertions: 0, deletions: 1 },
      ],
    });
    expect(get("a.txt")).toBe("three\n");
    const receipt = await rewind(opened, input(2));
    expect([get("a.txt"), get("new.txt")]).toEqual(["two\n", undefined]);
    if (receipt.type !== "rewound") throw new Error("no receipt");
    await rewind(opened, receipt.undo ?? "");
    expect([get("a.txt"), get("new.txt")]).toEqual(["three\n", "new\n"]);
    await rewind(opened, input(1));
    expect([get("a.txt"), get("new.txt")]).toEqual(["one\n", undefined]);
  });

  test("goes to the end of a turn too, which has a name of its own", async () => {
    verifies("S0.79");
    put("a.txt", "one\n");
    const file = path.join(project, "a.txt");
    const edit = (from: string, to: string) =>
      reply(toolUse("Edit", { file_path: file, old_string: from, new_string: to }));
    const opened = await open([
      reply(toolUse("Read", { file_path: file })),
      edit("one", "two"),
      reply("Done."),
      edit("two", "three"),
      reply("Done."),
    ]);
    for (const number of [1, 2]) await opened.say(`turn ${number}`, { id: input(number) });
    const [first, second] = opened.all("turn.finished").map(({ turnId }) => turnId);
    await rewind(opened, input(1));
    expect(get("a.txt")).toBe("one\n");
    await rewind(opened, second ?? "");
    expect(get("a.txt")).toBe("three\n");
    await rewind(opened, first ?? "");
    expect(get("a.txt")).toBe("two\n");
  });

  test.each(["with git", "without git"])(
    "takes back what a command changed, made and removed, %s",
    async (place) => {
      verifies("P2");
      put("kept.txt", "kept\n");
      put("changed.txt", "before\n");
      put("removed.txt", "was here\n");
      if (place === "with git") {
        execFileSync("git", ["init", "-q", project]);
        put(".gitignore", "ignored.txt\n");
      }
      put("ignored.txt", "mine\n");
      const opened = await open([
        reply(bash("echo after > changed.txt; rm removed.txt; mkdir deep; echo x > deep/made.txt")),
        reply("Done."),
      ]);
      await opened.say("go", { id: input(1) });
      const receipt = await rewind(opened, input(1));
      expect(receipt).toMatchObject({ skipped: [], lost: [] });
      expect([
        get("kept.txt"),
        get("changed.txt"),
        get("removed.txt"),
        get("deep/made.txt"),
        get("ignored.txt"),
      ]).toEqual(["kept\n", "before\n", "was here\n", undefined, "mine\n"]);
    },
  );

  test("never removes a file that only looks new because it was ignored before", async () => {
    execFileSync("git", ["init", "-q", project]);
    put(".gitignore", "secret.env\n");
    put("secret.env", "precious\n");
    await new Promise((resolve) => setTimeout(resolve, 30));
    const opened = await open([reply(bash("echo > .gitignore")), reply("Done.")]);
    await opened.say("go", { id: input(1) });
    const receipt = await rewind(opened, input(1));
    expect(get("secret.env")).toBe("precious\n");
    expect(receipt).toMatchObject({ lost: [path.join(project, "secret.env")] });
    expect(get(".gitignore")).toBe("secret.env\n");
  });

  test("leaves alone what somebody else changed since", async () => {
    put("a.txt", "one\n");
    const opened = await open([reply(bash("echo two > a.txt")), reply("Done.")]);
    await opened.say("go", { id: input(1) });
    put("a.txt", "somebody's work\n");
    expect(await rewind(opened, input(1))).toMatchObject({
      files: [],
      skipped: [{ why: expect.stringContaining("somebody else") }],
    });
    expect(get("a.txt")).toBe("somebody's work\n");
  });

  test("follows no link, and says so", async () => {
    put("a.txt", "one\n");
    writeFileSync(path.join(folder, "outside.txt"), "two\n");
    const opened = await open([reply(bash("echo two > a.txt")), reply("Done.")]);
    await opened.say("go", { id: input(1) });
    rmSync(path.join(project, "a.txt"));
    symlinkSync(path.join(folder, "outside.txt"), path.join(project, "a.txt"));
    expect(await rewind(opened, input(1))).toMatchObject({
      skipped: [{ why: expect.stringContaining("link") }],
    });
    expect(readFileSync(path.join(folder, "outside.txt"), "utf8")).toBe("two\n");
  });

  test("tells what lies beyond its bounds instead of restoring it", async () => {
    put("big.txt", "x".repeat(2_000));
    put("small.txt", "one\n");
    const opened = await open([reply(bash("echo two > big.txt; echo two > small.txt")), reply("Done.")], {
      bounds: { files: 100, fileBytes: 1_000, allBytes: 10_000 },
    });
    await opened.say("go", { id: input(1) });
    expect(await rewind(opened, input(1))).toMatchObject({ lost: [path.join(project, "big.txt")] });
    expect([get("big.txt"), get("small.txt")]).toEqual(["two\n", "one\n"]);
  });

  test("of an unknown message, or without checkpoints, is a clear fault", async () => {
    const opened = await open([]);
    await expect(rewind(opened, input(9))).rejects.toMatchObject({ code: "checkpoint_unknown" });
    const without = await openTestSession();
    await expect(rewind(without, input(9))).rejects.toMatchObject({ code: "checkpoints_off" });
  });

  test("keeps its contents for its owner only, each once", async () => {
    put("a.txt", "same\n");
    put("b.txt", "same\n");
    const opened = await open([reply(bash("echo two > a.txt")), reply("Done.")]);
    await opened.say("go", { id: input(1) });
    const blobs = execFileSync("find", [path.join(folder, "home", "blobs"), "-type", "f"])
      .toString()
      .trim()
      .split("\n");
    expect(blobs.filter((file) => readFileSync(file, "utf8") === "same\n")).toHaveLength(1);
    for (const file of blobs) expect(statSync(file).mode & 0o777).toBe(0o600);
  });
});
