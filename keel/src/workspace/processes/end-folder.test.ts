import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { bothGuards, needsGuard } from "../../../../test/support/real-guard.ts";
import { plainEnvironment, realShell } from "../../../../test/support/real-shell.ts";
import { nodeShell } from "./shell.ts";

describe.each(bothGuards())("the end of a command %s", (name, guard) => {
  const room = realShell(guard);
  let temporary = "";
  beforeEach(async () => {
    await needsGuard(name, guard);
    temporary = mkdtempSync(path.join(tmpdir(), "keel-end-"));
    mkdirSync(path.join(room.cwd, "sub"));
    symlinkSync("sub", path.join(room.cwd, "link"));
  });
  afterEach(() => {
    // Its own pipes are made there too, and go by themselves.
    const kept = readdirSync(temporary);
    rmSync(temporary, { recursive: true });
    expect(kept).toEqual([]);
  });

  const shell = (env = {}) =>
    nodeShell({
      env: { ...plainEnvironment, TMPDIR: temporary, ...env },
      guard,
      openPipe: async () => undefined,
    });
  const start = (text: string, { timeoutMs = 8_000, env = {} } = {}) =>
    shell(env).start({ text, cwd: room.cwd, timeoutMs, maxBytes: 100_000, endFolder: "asked" });
  const run = async (text: string, how = {}) => (await start(text, how)).over.then((over) => over);
  const below = (folder: string) => path.join(room.cwd, folder);

  test.each([
    ["nothing moved it", "echo hi", ""],
    ["it was moved", "cd sub", "sub"],
    ["a link led there: where that leads", "cd link", "sub"],
    ["it went to and fro", "cd sub && cd ..", ""],
    ["it fails", "cd sub; exit 3", "sub"],
    ["a command in it fails under -e", "set -e; cd sub; false; cd ..", "sub"],
    ["a name has no value under -u", "set -u; cd sub; echo $nothing", "sub"],
    ["it is a subshell that moved", "(cd sub); cd sub | true; cd sub & wait", ""],
    ["its output goes elsewhere", "exec >/dev/null 2>&1; cd sub", "sub"],
    ["its streams are closed", "cd sub; exec >&- 2>&-", "sub"],
    ["files must not be overwritten", "set -C; cd sub", "sub"],
    ["pwd is a function", "pwd() { echo /etc; }; cd sub", "sub"],
    ["it has an error in its last line", "cd sub\necho )", "sub"],
  ])("tells where the shell stood, when %s", async (_, text, folder) => {
    expect((await run(text)).endFolder).toBe(path.join(room.cwd, folder));
  });

  test.each([
    ["the shell became another program", "cd sub; exec true"],
    ["a trap of the command stands in its place", "trap 'echo bye' EXIT; cd sub"],
    ["it was killed", "cd sub; kill -9 $$"],
    ["it was asked to end", "cd sub; kill $$; sleep 5"],
    ["the folder is gone", "cd sub; rmdir ../sub"],
    ["its name is not valid text", "mkdir $'a\\xff'; cd $'a\\xff'"],
    [
      "somebody put a pipe into its place",
      `cd sub; f=$(trap -p EXIT | grep -o '/[^ ]*/end'); mkfifo "$f" & wait; trap - EXIT`,
    ],
    [
      "somebody put a link into its place",
      `f=$(trap -p EXIT | grep -o '/[^ ]*/end'); echo /etc > t; ln -s "$PWD/t" "$f"; trap - EXIT`,
    ],
    [
      "somebody wrote something else",
      `f=$(trap -p EXIT | grep -o '/[^ ]*/end'); echo etc > "$f"; trap - EXIT`,
    ],
  ])("says nothing of it, when %s", async (_, text) => {
    expect(await run(text)).not.toHaveProperty("endFolder");
  });

  test("says nothing of it when the time is up or somebody stops it", async () => {
    expect(await run("cd sub; sleep 30", { timeoutMs: 200 })).not.toHaveProperty("endFolder");
    const stopped = await start("cd sub; echo there; sleep 30");
    await stopped.follow().next();
    await stopped.stop();
    expect(await stopped.over).not.toHaveProperty("endFolder");
  });

  test("tells names with line feeds, quotes and spaces as they are", async () => {
    const odd = "a\n'b\" $c\n";
    mkdirSync(below(odd));
    expect((await run(`cd a*`)).endFolder).toBe(below(odd));
  });

  test("is what the shell says: a command can say it in its place", async () => {
    const forged = `f=$(trap -p EXIT | grep -o '/[^ ]*/end'); echo /etc > "$f"; trap - EXIT`;
    expect((await run(forged)).endFolder).toBe("/etc");
  });

  test("changes nothing that the command sees, prints or ends with", async () => {
    for (const text of [
      "env | grep -c BASH_ENV; bash -c 'trap -p'; echo $LINENO $#",
      "no-such-program",
      "echo one\nno-such-program",
      "echo )",
      "set -x; cd sub; true",
      "set -e; false",
      "exit 7",
    ]) {
      const plain = { text, cwd: room.cwd, timeoutMs: 8_000, maxBytes: 100_000 };
      const { output, exitCode } = await (await shell().start(plain)).over;
      expect(await run(text)).toMatchObject({ output, exitCode });
    }
  });

  test("tells it also to who has a file of their own that bash reads first", async () => {
    const env = { BASH_ENV: below("mine.sh") };
    await run("echo 'export mine=read' > mine.sh");
    const found = await run('cd sub; echo "$mine $BASH_ENV"', { env });
    expect(found).toMatchObject({ endFolder: below("sub"), output: `read ${below("mine.sh")}\n` });
  });

  test("is not told where no file can be made, and the command runs all the same", async () => {
    const found = await run("cd sub; echo ran", { env: { TMPDIR: below("absent") } });
    expect(found.output).toBe("ran\n");
    expect(found).not.toHaveProperty("endFolder");
  });
});

describe("where there is no bash", () => {
  const room = realShell();

  test("sh tells it", async () => {
    const [bin, sub] = ["bin", "sub"].map((name) => path.join(room.cwd, name));
    mkdirSync(`${bin}`);
    mkdirSync(`${sub}`);
    symlinkSync("/bin/sh", `${bin}/sh`);
    const shell = nodeShell({ env: { ...plainEnvironment, PATH: bin }, openPipe: async () => undefined });
    const limits = { timeoutMs: 8_000, maxBytes: 1_000 };
    const run = await shell.start({ text: "cd sub; echo $0", cwd: room.cwd, ...limits, endFolder: "asked" });
    expect(await run.over).toMatchObject({ endFolder: sub, output: "sh\n" });
  });
});
