// How the built command ends where something is lacking, odd or too much: in words, with a result, and nothing is lost.
import { execFileSync, spawn } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { reply, replyWith, toolUse } from "../../keel/src/testing/reply.ts";
import { notRunHere } from "../support/not-run.ts";
import { launcher } from "./command.ts";
import { type Line, startHost } from "./runner-host.ts";
import { command, lines, openStage, type Stage, until, watch } from "./stage.ts";

const uuid = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
const resultsOf = (all: readonly Line[]): Line[] => all.filter(({ type }) => type === "result");

describe("messages that wait when a runner is told to stop", () => {
  const slow = () =>
    openStage({
      replies: [reply(toolUse("Bash", { command: "sleep 30" }, "slow")), reply("Next."), reply("Last.")],
    });

  test.each(["stop", "SIGTERM", "SIGINT"] as const)(
    "%s: each ends in one result, dropped, and none runs later",
    async (how) => {
      const stage = await slow();
      const host = startHost(stage, ["--allowed-tools", "Bash(sleep:*)"]);
      await host.next("init");
      for (const number of [1, 2, 3])
        host.send({ type: "message", id: uuid(number), content: `say ${number}` });
      await host.next("tool_start");
      await until("all are accepted", () => accepted(stage).length === 3);
      if (how === "stop") host.send({ type: "stop" });
      else host.child.kill(how);
      await host.exited;
      expect(host.stray).toEqual([]);
      expect(resultsOf(host.lines).map(({ inputIds, status }) => [inputIds, status])).toEqual([
        [[uuid(1)], "interrupted"],
        [[uuid(2)], "dropped"],
        [[uuid(3)], "dropped"],
      ]);
      const dropped = stage.log().filter(({ type }) => type === "input.dropped");
      expect(dropped.map(({ inputId }) => inputId)).toEqual([uuid(2), uuid(3)]);
      const asked = stage.server.requests.length;
      const again = startHost(stage, ["--resume", stage.sessions()[0] ?? ""]);
      await again.next("init");
      again.end();
      await again.exited;
      expect(stage.server.requests).toHaveLength(asked);
    },
  );

  test("a thousand of them too", async () => {
    const stage = await slow();
    const host = startHost(stage, ["--allowed-tools", "Bash(sleep:*)"]);
    await host.next("init");
    const ids = Array.from({ length: 5_000 }, (_, index) => uuid(index + 1));
    host.write(ids.map((id) => `${JSON.stringify({ type: "message", id, content: "x" })}\n`).join(""));
    host.send({ type: "stop" });
    await host.exited;
    // Each was either accepted and has one result, or refused with its id.
    const ended = resultsOf(host.lines).flatMap(({ inputIds }) => inputIds as string[]);
    const refused = host.lines.flatMap(({ type, code, inputId }) =>
      type === "error" && code === "queue_full" ? [String(inputId)] : [],
    );
    expect(new Set(ended).size).toBe(ended.length);
    expect([...ended, ...refused].toSorted()).toEqual(ids);
    expect(ended.toSorted()).toEqual(accepted(stage).toSorted());
  });

  test("before the session was open they end as well", async () => {
    const stage = await slow();
    const host = startHost(stage);
    host.write(`${JSON.stringify({ type: "message", id: uuid(1), content: "x" })}\n{"type":"stop"}\n`);
    await host.exited;
    expect(host.stray).toEqual([]);
    expect(resultsOf(host.lines)).toMatchObject([{ inputIds: [uuid(1)], success: false }]);
  });
});

const accepted = (stage: Stage): string[] =>
  stage.log().flatMap(({ type, input }) => (type === "input.accepted" ? [(input as { id: string }).id] : []));

describe("a file that a host attaches by its path", () => {
  test.each([
    ["does not exist", "nope.txt", "it does not exist"],
    ["lies outside", "../outside.txt", "was not attached"],
  ])("and that %s is refused with its field; nothing is sent without it", async (_, file, why) => {
    const stage = await openStage({ replies: [reply("Read.")] });
    writeFileSync(path.join(stage.project, "../outside.txt"), "secret");
    writeFileSync(path.join(stage.project, "there.txt"), "here it is");
    const host = startHost(stage);
    await host.next("init");
    const attachments = [{ path: "there.txt" }, { path: file }];
    host.send({ type: "message", id: uuid(1), content: "look", attachments });
    const error = await host.next("error");
    expect(error).toMatchObject({ code: "bad_field", inputId: uuid(1), fatal: false });
    expect(error["message"]).toContain("attachments.1.path");
    expect(error["message"]).toContain(why);
    expect(stage.server.requests).toEqual([]);
    // One that is there goes with words and with blocks alike.
    const blocks = [{ type: "text", text: "look" }];
    host.send({ type: "message", id: uuid(2), content: blocks, attachments: [{ path: "there.txt" }] });
    await host.next("result");
    expect(JSON.stringify(stage.server.requests[0]?.body)).toContain("here it is");
    host.end();
    await host.exited;
  });
});

test("installed by one user and used by another, the command says nothing of its own cache", async () => {
  if (process.getuid?.() !== 0 || !has("setpriv"))
    return notRunHere("another user", "only root can become one, with setpriv");
  const stage = await openStage({ replies: [], otherwise: reply("Hello.") });
  const place = mkdtempSync(path.join(tmpdir(), "keel-installed-"));
  onTestFinished(() => rmSync(place, { recursive: true, force: true }));
  const keel = path.dirname(path.dirname(launcher));
  for (const part of ["bin", "dist", "package.json"])
    cpSync(path.join(keel, part), path.join(place, "keel", part), { recursive: true });
  rmSync(path.join(place, "keel/dist/.compiled"), { recursive: true, force: true });
  mkdirSync(path.join(place, "keel/dist/.compiled"), { mode: 0o700 });
  execFileSync("ln", ["-s", path.resolve(keel, "../node_modules"), path.join(place, "node_modules")]);
  for (const folder of [place, path.dirname(stage.project), stage.project]) chmodSync(folder, 0o777);
  const child = spawn(
    "setpriv",
    [
      "--reuid",
      "65534",
      "--regid",
      "65534",
      "--clear-groups",
      process.execPath,
      path.join(place, "keel/bin/start.cjs"),
      "-p",
      "hi",
    ],
    { cwd: stage.project, env: { PATH: process.env["PATH"], ...stage.env } },
  );
  child.stdin.end();
  expect(await watch(child).ended).toEqual({ code: 0, stdout: "Hello.\n", stderr: "" });
});

const has = (program: string): boolean =>
  (process.env["PATH"] ?? "").split(":").some((folder) => existsSync(path.join(folder, program)));

test.each([25, 26, 27, 28, 30])("with %s descriptors a session ends in order, in words", async (limit) => {
  const replies = [reply(toolUse("Bash", { command: "echo hello" }, "c1"))];
  const stage = await openStage({ replies, otherwise: reply("Done.") });
  const words = [command, "-p", "go", "--output-format", "json", "--allowed-tools", "Bash(echo:*)"];
  const child = spawn("sh", ["-c", `ulimit -n ${limit}; exec "$@"`, "sh", ...words], {
    cwd: stage.project,
    env: { PATH: process.env["PATH"], ...stage.env },
  });
  child.stdin.end();
  const { code, stdout, stderr } = await watch(child).ended;
  expect(stderr).not.toContain("unexpected");
  // Where not even the log can be opened, that is said; otherwise the turn has its end and the call its result.
  if (code !== 0) {
    expect([1, 73]).toContain(code);
    return expect(`${stdout}${stderr}`).toMatch(/too many files are open/i);
  }
  expect({ code, ended: lines(stdout) }).toMatchObject({
    code: 0,
    ended: [{ type: "result", result: "Done." }],
  });
  const [finished] = stage.log().filter(({ type }) => type === "tool.finished");
  expect(JSON.stringify(finished?.["content"])).toMatch(/hello|too many files are open/);
});

test("an id that a closed session has is refused with the way to go on", async () => {
  const stage = await openStage({ replies: [], otherwise: reply("Hi.") });
  const words = ["-p", "hi", "--session-id", uuid(9)];
  expect(await stage.run(words)).toMatchObject({ code: 0 });
  const { code, stderr } = await stage.run(words);
  expect(code).toBe(64);
  expect(stderr).toContain(`There is a session ${uuid(9)} already.`);
  expect(stderr).toContain(`--resume ${uuid(9)}`);
});

test("a server that failed is named on standard error, once, beside the answer", async () => {
  const stage = await openStage({ replies: [], otherwise: reply("Hi.") });
  const servers = path.join(stage.project, "servers.json");
  writeFileSync(servers, JSON.stringify({ mcpServers: { broken: { command: "false" } } }));
  const { code, stdout, stderr } = await stage.run(["-p", "hi", "--mcp-config", servers]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "Hi.\n" });
  expect(stderr.split("\n").filter((line) => line.includes("broken"))).toHaveLength(1);
});

test("absurd token counts do not end the turn: the answer is told, with a warning", async () => {
  const usage = { inputTokens: 1e308, outputTokens: 1e308 };
  const stage = await openStage({ replies: [replyWith({ usage }, "Hi.")] });
  const { code, stdout, stderr } = await stage.run(["-p", "hi"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "Hi.\n" });
  expect(stderr).toContain("token counts that cannot be true");
});

test("two thousand calls in one reply: few run, all are answered, and the answer is told", {
  timeout: 60_000,
}, async () => {
  const calls = Array.from({ length: 2_000 }, (_, index) =>
    toolUse("Glob", { pattern: `*.none${index}` }, `c${index}`),
  );
  const stage = await openStage({ replies: [reply(...calls)], otherwise: reply("Done.") });
  const { code, stdout } = await stage.run(["-p", "go"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "Done.\n" });
  const log = stage.log();
  expect(log.filter(({ type }) => type === "tool.started")).toHaveLength(128);
  expect(log.filter(({ type }) => type === "tool.finished")).toHaveLength(2_000);
});
