// How the command ends: by signals, with a reader that is slow, and with one that has gone.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { reply, replyWith, toolUse } from "../../keel/src/testing/reply.ts";
import { notRunHere } from "../support/not-run.ts";
import { command, lines, openStage, type Stage, types, until } from "./stage.ts";

const waits = { replies: [replyWith({ delayMs: 60_000 }, "never")] };

describe("signals", () => {
  test("SIGINT interrupts the turn: 130, nothing on standard output, and the log is whole", async () => {
    const stage = await openStage(waits);
    const running = await started(stage, ["-p", "go"]);
    running.child.kill("SIGINT");
    const ended = await running.ended;
    expect(ended).toMatchObject({ code: 130, stdout: "" });
    expect(ended.stderr).toContain("Interrupted");
    expectWhole(stage, "interrupted");
  });

  test("SIGINT ends a running command too, and json still gets its result", async () => {
    const stage = await openStage({
      replies: [reply(toolUse("Bash", { command: "echo begun > began; sleep 600" }))],
    });
    const running = await started(stage, ["-p", "go", "--output-format", "json", "--allowed-tools", "Bash"]);
    await until("the command runs", () => types(stage.log()).includes("tool.started"));
    running.child.kill("SIGINT");
    const ended = await running.ended;
    expect(ended.code).toBe(130);
    expect(lines(ended.stdout)[0]).toMatchObject({ type: "result", is_error: true });
    expectWhole(stage, "interrupted");
    expect(stage.log().find(({ type }) => type === "tool.finished")).toMatchObject({ interrupted: true });
  });

  test("a second SIGINT ends the session while the turn is still being interrupted", async () => {
    const stubborn = "trap '' TERM INT; touch ready; while :; do sleep 1; done";
    const stage = await openStage({ replies: [reply(toolUse("Bash", { command: stubborn }))] });
    const running = await started(stage, ["-p", "go", "--allowed-tools", "Bash"]);
    await until("the command ignores signals", () => existsSync(path.join(stage.project, "ready")));
    running.child.kill("SIGINT");
    await until("the interrupt is on record", () => types(stage.log()).includes("turn.interrupted"));
    running.child.kill("SIGINT");
    expect((await running.ended).code).toBe(130);
    expectWhole(stage, "interrupted");
    expect(stage.log().at(-1)).toMatchObject({ type: "session.closed", reason: "stopped" });
  });

  test("SIGTERM ends gracefully with 143: the stream has its result and the session can go on", async () => {
    const stage = await openStage({ ...waits, otherwise: reply("went on") });
    const running = await started(stage, ["-p", "go", "--output-format", "stream-json"]);
    running.child.kill("SIGTERM");
    const ended = await running.ended;
    expect(ended.code).toBe(143);
    expect(lines(ended.stdout).at(-1)).toMatchObject({ type: "result", is_error: true });
    expectWhole(stage, "interrupted");
    expect(await stage.run(["-p", "again", "--continue"])).toMatchObject({ code: 0, stdout: "went on\n" });
  });

  test("a signal before anything was begun ends at once", async () => {
    if (!existsSync("/proc/self/status")) return notRunHere("a signal at the start", "no /proc");
    const stage = await openStage(waits);
    const running = stage.start(["-p"]);
    // Its standard input stays open, so it waits there.
    await until("it listens for signals", () => listens(running.child.pid));
    running.child.kill("SIGTERM");
    expect((await running.ended).code).toBe(143);
    expect(stage.sessions()).toEqual([]);
  });
});

describe("readers", () => {
  test("3 MiB reach a reader that starts to read only when the command is done", async () => {
    const text = `${"0123456789abcdef".repeat(3 * 65_536)}!`;
    const stage = await openStage({ replies: [replyWith({ chunkChars: 1_000_000 }, text)] });
    const child = spawn(command, ["-p", "go"], {
      cwd: stage.project,
      env: { PATH: process.env["PATH"], ...stage.env },
    });
    child.stdin.end();
    child.stdout.pause();
    await until("the session is closed", () => types(stage.log()).includes("session.closed"));
    // Everything is done but the output: 64 KiB of it stand in the pipe, the rest in the process.
    expect(child.exitCode).toBeNull();
    const chunks: Buffer[] = [];
    for await (const chunk of child.stdout) chunks.push(chunk);
    const code = child.exitCode ?? (await new Promise((resolve) => child.once("exit", resolve)));
    expect(Buffer.concat(chunks).toString()).toBe(`${text}\n`);
    expect(code).toBe(0);
  });

  test("a reader that goes away ends the command with 74, without an uncaught error, and the log is whole", async () => {
    // A turn without an end of its own.
    const stage = await openStage({
      replies: [],
      otherwise: reply("more", toolUse("Read", { file_path: "x" })),
    });
    const running = await started(stage, ["-p", "go", "--output-format", "stream-json"]);
    await until("the first line", () => running.out().includes("\n"));
    running.child.stdout?.destroy();
    const ended = await running.ended;
    expect(ended.code).toBe(74);
    expect(ended.stderr).not.toMatch(/EPIPE|\n\s+at /);
    expectWhole(stage, "interrupted");
  });

  test.each([
    ["keel -p", ["-p"], "go", "all said\n"],
    [
      "the runner",
      ["runner"],
      `${JSON.stringify({ type: "message", content: "go" })}\n`,
      '"text":"all said"',
    ],
  ])(
    "%s answers whoever has only ended what they send over one socket for both ways",
    async (_, given, sent, said) => {
      // Longer than it takes to look whether anybody reads.
      const stage = await openStage({ replies: [replyWith({ delayMs: 1_500 }, "all said")] });
      const { server, client } = await socketPair(path.join(stage.project, "socket"));
      const child = spawn(command, given, {
        cwd: stage.project,
        env: { PATH: process.env["PATH"], ...stage.env },
        stdio: [server, server, "ignore"],
      });
      const ended = new Promise((resolve) => child.once("exit", resolve));
      client.end(sent);
      let heard = "";
      client.on("data", (chunk) => {
        heard += chunk;
      });
      expect(await ended).toBe(0);
      server.destroy();
      await new Promise((resolve) => client.once("close", resolve));
      expect(heard).toContain(said);
    },
  );

  test("a command that tells first and then copies is not cut off in the middle by a reader that goes away", {
    timeout: 120_000,
  }, async () => {
    const stage = await openStage({ replies: [] });
    // Copying takes longer than a session may take to end once nobody reads.
    const many = 6_000;
    const skill = path.join(stage.env["HOME"] ?? "", ".claude/skills/long");
    mkdirSync(skill, { recursive: true });
    writeFileSync(path.join(skill, "SKILL.md"), "---\ndescription: d\n---\nLong.");
    for (let count = 1; count < many; count++) writeFileSync(path.join(skill, `x${count}.txt`), "x");
    const running = stage.start(["import", "claude", "--yes"]);
    running.child.stdout?.destroy();
    const ended = await running.ended;
    expect(ended.stderr).toContain("Copied: 1 of 1.");
    expect(readdirSync(path.join(stage.home, "skills/long"))).toHaveLength(many);
    expect(ended.code).toBe(74);
  });
});

/** Both ends of a connection; each way ends for itself. */
async function socketPair(place: string): Promise<{ server: Socket; client: Socket }> {
  const listener = createServer({ allowHalfOpen: true, pauseOnConnect: true });
  await new Promise<void>((resolve) => listener.listen(place, resolve));
  const taken = new Promise<Socket>((resolve) => listener.once("connection", resolve));
  const client = connect({ path: place, allowHalfOpen: true });
  onTestFinished(() => void client.destroy());
  const server = await taken;
  listener.close();
  return { server, client };
}

async function started(stage: Stage, parameters: readonly string[]) {
  const running = stage.start(parameters);
  running.child.stdin?.end();
  await until("the first request", () => stage.server.requests.length > 0);
  return running;
}

/** Whether the command listens, as the kernel tells it: Node itself catches SIGTERM from the start, but not SIGHUP. */
function listens(pid: number | undefined): boolean {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const caught = BigInt(`0x${/^SigCgt:\s*(\w+)$/m.exec(status)?.[1] ?? "0"}`);
  return (caught & 1n) !== 0n;
}

/** Every accepted input has its end, and the session was closed. */
function expectWhole(stage: Stage, reason: string): void {
  const log = stage.log();
  expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
  expect(log.filter(({ type }) => type === "turn.finished").map((event) => event["reason"])).toEqual([
    reason,
  ]);
  expect(log.at(-1)?.type).toBe("session.closed");
}
