// Real processes: a small language server of our own, the one that comes with TypeScript, and commands that check.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { NewErrors } from "../../keel/src/ports/diagnostics.ts";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { type DiagnosticsEntry, nodeDiagnostics } from "../../keel/src/workspace/diagnostics/diagnostics.ts";
import { openProcessGuard } from "../../keel/src/workspace/processes/process-guard.ts";
import { nodeShell } from "../../keel/src/workspace/processes/shell.ts";
import { plainEnvironment, processesIn } from "../support/real-shell.ts";
import { verifies } from "../support/verifies.ts";
import { openStage } from "./stage.ts";

const repository = path.resolve(import.meta.dirname, "../..");
const fixture = path.join(repository, "test/fixtures/language-server.mjs");
const server = (...words: string[]): string => `'${process.execPath}' '${fixture}' ${words.join(" ")}`;

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-diagnostics-")));
});
afterEach(() => rmSync(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }));

function open(...entries: DiagnosticsEntry[]) {
  const guard = openProcessGuard({ env: plainEnvironment });
  const env = { ...plainEnvironment, SERVER_LOG: path.join(root, "log") };
  const shell = nodeShell({ env, guard });
  const diagnostics = nodeDiagnostics({ entries, root, userHome: root, env, guard, shell });
  onTestFinished(async () => {
    await diagnostics.close();
    await guard.close();
  });
  const signal = new AbortController().signal;
  /** Writes a file as an edit does, between the two looks. */
  const edit = async (name: string, before: string | null, after: string): Promise<NewErrors | undefined> => {
    const file = path.join(root, name);
    if (before !== null) writeFileSync(file, before);
    const watch = await diagnostics.watch({ path: file, before }, signal);
    writeFileSync(file, after);
    return watch?.newErrors(after, signal);
  };
  return { edit, diagnostics, log: () => readFileSync(path.join(root, "log"), "utf8").trim().split("\n") };
}

const fine = { errors: [], omitted: 0, notes: [] };

describe("a language server", () => {
  test.each([
    ["that publishes by itself", ["push"]],
    ["that names the version", ["versioned"]],
    ["that says a part first", ["versioned", "late"]],
    ["that says a part first and no version", ["push", "late"]],
    ["that is asked", ["pull"]],
  ])("%s tells the errors that an edit brought, and only those", async (_, words) => {
    verifies("P1");
    const { edit } = open({ files: ["*.x"], command: server(...words) });
    expect(await edit("a.x", "fine\nold bad\n", "fine\nnew bad\nodd\nold bad\n")).toEqual({
      ...fine,
      errors: ["2:5 new bad is wrong (test 7)"],
    });
    // The errors have moved, and none is new.
    expect(await edit("a.x", "fine\nnew bad\nold bad\n", "first\nnew bad\nold bad\n")).toEqual(fine);
    expect(await edit("b.x", null, "bad from the start")).toEqual({
      ...fine,
      errors: ["1:1 bad from the start is wrong (test 7)"],
    });
  });

  test("is started once, with the first file that it looks after", async () => {
    const { edit, log } = open({ files: ["*.x"], command: server("push") });
    expect(await edit("a.txt", "fine", "bad")).toBeUndefined();
    expect(existsSync(path.join(root, "log"))).toBe(false);
    await edit("a.x", "fine", "bad");
    await edit("b.x", "fine", "bad");
    expect(log().filter((line) => line === "started")).toHaveLength(1);
    // One document is open at a time: of all others the server reads the disk.
    expect(log().filter((line) => line === "textDocument/didOpen")).toHaveLength(2);
    expect(log().filter((line) => line === "textDocument/didClose")).toHaveLength(1);
  });

  test("that tells many errors is cut short", async () => {
    const { edit } = open({ files: ["*.x"], command: server("pull") });
    const found = await edit("a.x", "", Array.from({ length: 14 }, (_, at) => `bad ${at}`).join("\n"));
    expect(found).toMatchObject({ omitted: 4 });
    expect(found?.errors).toHaveLength(10);
  });

  test.each([
    ["never answers", ["push", "deaf"], "it took too long"],
    ["answers too late", ["push", "slow"], "it took too long"],
    ["ends at once", ["push", "dies"], "it ended with 3: no licence found"],
    ["ends in the middle", ["push", "dies-at-change"], "it "],
    ["prints what is no message", ["push", "garbage"], "it sent a header without a length"],
  ])("that %s costs the edit its time and nothing else", async (_, words, why) => {
    const { edit } = open({ files: ["*.x"], command: server(...words), timeoutMs: 1_500 });
    const found = await edit("a.x", "fine", "bad");
    expect(found).toMatchObject({ errors: [], notes: [expect.stringContaining(why)] });
  });

  test("that ends is started again, but not for ever", async () => {
    const { edit, log } = open({
      files: ["*.x"],
      command: server("push", "dies-at-change"),
      timeoutMs: 2_000,
    });
    for (let count = 0; count < 5; count++) await edit("a.x", "fine", "bad");
    expect(log().filter((line) => line === "started")).toHaveLength(3);
  });

  test("is ended at the close, with what it started", async () => {
    verifies("G9");
    const { edit, diagnostics } = open({ files: ["*.x"], command: server("push", "child") });
    await edit("a.x", "fine", "bad");
    expect(processesIn(root).length).toBeGreaterThan(1);
    await diagnostics.close();
    expect(processesIn(root)).toEqual([]);
  });

  test("of TypeScript says what an edit broke", async () => {
    verifies("P1");
    const compiler = path.join(repository, "node_modules/.bin/tsc");
    writeFileSync(path.join(root, "tsconfig.json"), '{ "compilerOptions": { "strict": true, "types": [] } }');
    writeFileSync(path.join(root, "other.ts"), "export const count: number = 1;\n");
    const { edit } = open({ files: ["*.ts"], command: `'${compiler}' --lsp --stdio`, timeoutMs: 9_000 });
    const before = 'import { count } from "./other.ts";\nexport const text: string = 7;\n';
    const found = await edit("a.ts", before, `${before}export const wrong: string = count;\n`);
    expect(found?.notes).toEqual([]);
    // The old error is of the same kind and was there before.
    expect(found?.errors).toEqual(["3:14 Type 'number' is not assignable to type 'string'. (ts 2322)"]);
  });
});

describe("a command that checks", () => {
  test("tells the lines about the file that are new", async () => {
    verifies("P1");
    const { edit } = open({ files: ["*.x"], check: "grep -nH bad {file} *.x && exit 1 || exit 0" });
    writeFileSync(path.join(root, "b.x"), "bad elsewhere\n");
    expect(await edit("a.x", "old bad\n", "first\nold bad\nnew bad\n")).toMatchObject({
      errors: [`${path.join(root, "a.x")}:3:new bad`, "a.x:3:new bad"],
      notes: [],
    });
    expect(await edit("a.x", "first\nold bad\nnew bad\n", "old bad\n")).toEqual(fine);
  });

  test("that takes too long is stopped", async () => {
    const { edit } = open({ files: ["*.x"], check: "sleep 60", timeoutMs: 200 });
    expect(await edit("a.x", "fine", "bad")).toMatchObject({
      errors: [],
      notes: ["sleep 60: it took too long"],
    });
    expect(processesIn(root)).toEqual([]);
  });

  test("takes a file for a file, whatever its name", async () => {
    const { edit } = open({ files: ["*.x"], check: "cat {file} >&2; exit 1" });
    await edit("it's $(touch made).x", "fine", "bad");
    expect(existsSync(path.join(root, "made"))).toBe(false);
  });
});

describe("the command", () => {
  const replies = (file: string) => [
    reply(toolUse("Read", { file_path: file })),
    reply(toolUse("Edit", { file_path: file, old_string: "fine", new_string: "bad" })),
    reply("Done."),
  ];
  const settings = JSON.stringify({ diagnostics: [{ files: "*.x", command: server("pull") }] });

  test("appends new errors to the edit's result, and leaves no server behind", async () => {
    verifies("P1");
    const stage = await openStage({ replies: replies("a.x") });
    writeFileSync(path.join(stage.project, "a.x"), "old bad\nfine\n");
    const ended = await stage.run([
      ...["-p", "go", "--settings", settings, "--permission-mode", "acceptEdits"],
    ]);
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    const [, edited] = stage.log().filter(({ type }) => type === "tool.finished");
    expect(edited?.["content"]).toMatchObject([
      { text: expect.stringContaining("Edited") },
      { text: `New errors in ${path.join(stage.project, "a.x")}:\n2:1 bad is wrong (test 7)` },
    ]);
    // The guard itself dies with the process that it guards, a moment later.
    await expect.poll(() => processesIn(stage.project), { timeout: 2_000 }).toEqual([]);
  });

  test("starts no server that only an untrusted project names, and trust shows it first", async () => {
    verifies("G35");
    const stage = await openStage({ replies: replies("a.x") });
    writeFileSync(path.join(stage.project, "a.x"), "fine\n");
    mkdirSync(path.join(stage.project, ".keel"));
    writeFileSync(path.join(stage.project, ".keel/settings.json"), settings);
    const ended = await stage.run(["-p", "go", "--permission-mode", "acceptEdits"]);
    expect(ended.stderr).toContain("not trusted");
    const [, edited] = stage.log().filter(({ type }) => type === "tool.finished");
    expect(edited?.["content"]).toHaveLength(1);
    expect((await stage.run(["trust"])).stdout).toContain("language-server.mjs");
  });
});
