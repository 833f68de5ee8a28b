// When stock is taken of a workspace, and what is never copied.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { realClock } from "../../../../test/support/real-workspace.ts";
import {
  openTestSession,
  type TestSession,
  type TestSessionOptions,
} from "../../../../test/support/test-session.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { memoryWorkspace } from "../../testing/memory-workspace.ts";
import { reply, toolUse } from "../../testing/reply.ts";
import type { Reply } from "../../testing/script.ts";
import { builtInTools } from "../../tools/catalog.ts";
import { nodeFiles } from "../files/files.ts";
import { nodeShell } from "../processes/shell.ts";
import { nodeCheckpoints } from "./checkpoints.ts";

let folder: string;
let project: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-stock-")));
  project = path.join(folder, "project");
  mkdirSync(project);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const id = "00000000-0000-4000-8000-000000000001";
const put = (name: string, content: string): void => writeFileSync(path.join(project, name), content);
const bash = (command: string) => toolUse("Bash", { command });

/** Everything that was copied. */
function copies(): string[] {
  const blobs = path.join(folder, "home", "blobs");
  if (!existsSync(blobs)) return [];
  return readdirSync(blobs, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => readFileSync(path.join(parentPath, name), "utf8"));
}

async function open(
  replies: Reply[],
  { exclude, ...more }: { exclude?: string[] } & Pick<TestSessionOptions, "answer"> = {},
): Promise<TestSession> {
  const files = nodeFiles({ cwd: project, roots: [project] });
  const home = path.join(folder, "home");
  const shell = nodeShell({ env: { PATH: process.env["PATH"] ?? "" } });
  return openTestSession({
    script: { replies },
    clock: realClock,
    tools: builtInTools(),
    workspace: { ...memoryWorkspace({ cwd: project }), cwd: project, roots: [project], files, shell },
    checkpoints: nodeCheckpoints({ home, root: project, files, now: Date.now, exclude }),
    ...more,
  });
}

describe("stock is taken", () => {
  test("not at all in a turn that runs no command, or only one that reads", async () => {
    put("a.txt", "a\n");
    const opened = await open([
      reply(toolUse("Read", { file_path: path.join(project, "a.txt") })),
      reply(bash("ls")),
      reply("Done."),
    ]);
    await opened.say("look", { id });
    expect(opened.all("tool.finished").map(({ failed }) => failed)).toEqual([false, false]);
    expect(copies()).toEqual([]);
  });

  test("while a person still thinks about the command", async () => {
    verifies("P2");
    put("a.txt", "a\n");
    const opened = await open([reply(bash("echo b > a.txt")), reply("Done.")], { answer: () => undefined });
    const said = opened.say("change it", { id });
    await expect.poll(copies).toEqual(["a\n"]);
    const [asked] = opened.all("ask.opened");
    expect(opened.all("tool.started")).toEqual([]);
    await opened.session.submit({
      type: "answer",
      askId: asked?.ask.id ?? "",
      answer: { verdict: "allow" },
    });
    await said;
    await opened.session.submit({ type: "rewind", checkpoint: id, preview: false });
    expect(readFileSync(path.join(project, "a.txt"), "utf8")).toBe("a\n");
  });
});

describe("never copied, and told as changed when a command changes it, is", () => {
  test.each([
    [".env", "TOKEN=secret\n"],
    [".env.production", "TOKEN=secret\n"],
    ["server.pem", "secret\n"],
    ["id_ed25519", "secret\n"],
    ["deploy-key", "-----BEGIN OPENSSH PRIVATE KEY-----\nsecret\n"],
    ["customers.csv", "secret\n"],
  ])("%s", async (name, content) => {
    put(name, content);
    put("a.txt", "a\n");
    const opened = await open([reply(bash(`echo more >> ${name}; echo b > a.txt`)), reply("Done.")], {
      exclude: ["*.csv"],
    });
    await opened.say("go", { id });
    expect(copies().sort()).toEqual(["a\n", "b\n"]);
    const receipt = await opened.session.submit({ type: "rewind", checkpoint: id, preview: false });
    expect(receipt).toMatchObject({ lost: [path.join(project, name)], skipped: [] });
    expect(readFileSync(path.join(project, name), "utf8")).toBe(`${content}more\n`);
    expect(copies().filter((copy) => copy.includes("secret"))).toEqual([]);
  });

  test("a secret that a file tool writes over", async () => {
    put(".env", "TOKEN=secret\n");
    const file_path = path.join(project, ".env");
    const opened = await open([
      reply(toolUse("Read", { file_path })),
      reply(toolUse("Write", { file_path, content: "TOKEN=other\n" })),
      reply("Done."),
    ]);
    await opened.say("go", { id });
    expect(readFileSync(file_path, "utf8")).toBe("TOKEN=other\n");
    expect(copies()).toEqual([]);
    const receipt = await opened.session.submit({ type: "rewind", checkpoint: id, preview: false });
    expect(receipt).toMatchObject({ lost: [file_path] });
  });

  test("and so is not removed either, since that could not be taken back", async () => {
    const opened = await open([reply(bash("echo TOKEN=secret > .env; echo b > b.txt")), reply("Done.")]);
    await opened.say("go", { id });
    const receipt = await opened.session.submit({ type: "rewind", checkpoint: id, preview: false });
    expect(receipt).toMatchObject({
      files: [{ path: path.join(project, "b.txt") }],
      skipped: [{ path: path.join(project, ".env") }],
    });
    expect(readFileSync(path.join(project, ".env"), "utf8")).toBe("TOKEN=secret\n");
    expect(existsSync(path.join(project, "b.txt"))).toBe(false);
  });
});
