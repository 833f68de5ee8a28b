// Lines that no shell should send, readers that lag, pipes that close and shells that die.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { reply, replyWith, toolUse } from "../../keel/src/testing/reply.ts";
import { countOf, seed } from "../support/budget.ts";
import { verifies } from "../support/verifies.ts";
import { startDesktop } from "./runner-host.ts";
import { command, openStage, type Stage, until } from "./stage.ts";

test("changed lines: each bad one has one typed answer, with its id where that can be read, and nothing ends", {
  timeout: 3_600_000,
}, async () => {
  verifies("S1.3", "S1.24");
  const stage = await openStage({ replies: [], otherwise: reply("Heard.") });
  const host = startDesktop(stage);
  await host.next("ready");
  for (const [line, expected] of known) {
    const before = host.lines.length;
    host.write(`${line}\n`);
    host.send({ id: "probe", kind: "get_status" });
    await until("both are answered", () => host.lines.length >= before + 2);
    const told = host.lines.slice(before).filter(({ id }) => id !== "probe");
    expect(told, line.slice(0, 80)).toMatchObject([{ type: "error", ...expected }]);
  }
  const random = generator(seed());
  const count = countOf("desktop-lines");
  const batch = 1_000;
  for (let sent = 0; sent < count; sent += batch) {
    const lines = Array.from({ length: Math.min(batch, count - sent) }, () => changed(random));
    const before = host.lines.length;
    if (host.child.stdin?.write(Buffer.concat(lines.flatMap((line) => [line, Buffer.from("\n")]))) === false)
      await new Promise((resolve) => host.child.stdin?.once("drain", resolve));
    host.send({ id: "probe", kind: "get_status" });
    await until("every line has its answer", () => {
      const ends = host.lines.slice(before).filter(({ type }) => type === "done" || type === "error");
      return ends.length === lines.filter((line) => !isBlank(line)).length + 1;
    });
    expect(host.stray).toEqual([]);
  }
  // No changed line has such an id.
  host.send({ id: "last of all", kind: "user_message", message: "hi" });
  expect(await host.next("done", ({ id }) => id === "last of all")).toMatchObject({
    data: { text: "Heard." },
  });
  host.end();
  expect((await host.exited).code).toBe(0);
  expect(host.stray).toEqual([]);
});

const known: readonly (readonly [string, object])[] = [
  ["not json", { code: "bad_json" }],
  ["[1]", { code: "bad_message" }],
  ['{"id":"1"}', { code: "bad_message", id: "1" }],
  ['{"id":"2","kind":"dance"}', { code: "unknown_type", id: "2" }],
  ['{"id":"3","kind":"load_conversation"}', { code: "bad_field", id: "3" }],
  ['{"kind":"interrupt"}', { code: "bad_field" }],
  ['{"id":"4","kind":"user_message","message":""}', { code: "bad_field", id: "4" }],
  ['{"id":"5","kind":"user_message","message":"x","images":"[{"}', { code: "bad_field", id: "5" }],
  [`{"id":"6","kind":"user_message","message":"${"x".repeat(17 * 1024 * 1024)}"}`, { code: "too_large" }],
  ['{"id":"7","kind":"delete_conversation","conversation_id":"../../x"}', { id: "7" }],
];

const seeds = [
  '{"id":"a","kind":"interrupt"}',
  '{"id":"a","kind":"get_status"}',
  '{"id":"a","kind":"clear_history"}',
  '{"id":"a","kind":"load_conversation","conversation_id":"00000000-0000-7000-8000-000000000000"}',
  '{"id":"a","kind":"answer_ask","ask_id":"x","approved":true,"input":{"x":[1,2]}}',
];

const isBlank = (line: Buffer): boolean => /^[ \t\r]*$/.test(line.toString("latin1"));

/** A good line with some of its bytes changed, taken out, doubled or swapped. Messages are left out: each is a turn. */
function changed(random: () => number): Buffer {
  const bytes = [...Buffer.from(seeds[Math.floor(random() * seeds.length)] ?? "")];
  for (let times = Math.floor(random() * 6); times > 0; times--) {
    const at = Math.floor(random() * bytes.length);
    if (random() < 0.5) bytes[at] = Math.floor(random() * 256);
    else bytes.splice(at, 1 + Math.floor(random() * 5));
  }
  return Buffer.from(bytes.filter((byte) => byte !== 0x0a));
}

test("a reader that does not read gets every token in order later; each request and an interrupt are heard meanwhile", async () => {
  verifies("S1.4", "S1.23");
  // More than waits for a reader before hardly anything is read of it.
  const words = "word ".repeat(800_000);
  const few = { chunkChars: 10_000, usage: { inputTokens: 10, outputTokens: 10 } };
  const stage = await openStage((_, { assistantTurns }) =>
    assistantTurns < 3
      ? replyWith(few, words, toolUse("Read", { file_path: "none" }))
      : replyWith({ delayMs: 60_000 }, "never"),
  );
  const host = startDesktop(stage);
  await host.next("ready");
  host.child.stdout?.pause();
  host.send({ id: "m", kind: "user_message", message: "go" });
  await until("everything was said", () => stage.server.requests.length === 4);
  for (let at = 0; at < 5; at++) {
    host.send({ id: `s${at}`, kind: "get_status" });
    await pause(50);
  }
  host.send({ id: "i", kind: "interrupt" });
  await until("the interrupt was heard", () => stage.log().some(({ type }) => type === "turn.interrupted"));
  host.child.stdout?.resume();
  expect(await host.next("done", ({ id }) => id === "m")).toMatchObject({ data: { status: "interrupted" } });
  const told = host.lines.flatMap((line) => (line.type === "token" ? [String(line["token"])] : []));
  expect(told.join("")).toBe(words.repeat(3));
  host.end();
  expect((await host.exited).code).toBe(0);
  expect(host.stray).toEqual([]);
});

const ends = ["shell killed", "output closed", "SIGKILL", "SIGTERM", "pipes closed", "SIGINT"] as const;

test("a pipe that closes, a signal and a shell that dies end the runtime with what it started, and every log is whole", {
  timeout: 3_600_000,
}, async () => {
  verifies("S1.22");
  const stage = await openStage((_, { assistantTurns }) =>
    assistantTurns < 1
      ? reply("Going.", toolUse("Bash", { command: commandLine.replace("\0", " ") }, "b"))
      : reply("the end"),
  );
  const count = countOf("desktop-ends");
  let killed = 0;
  for (let run = 0; run < count; run++) {
    const kind = ends[run % ends.length];
    if (kind === "SIGKILL") killed++;
    if (kind === "shell killed") await killShell(stage);
    else {
      const host = startDesktop(stage, ["--allowed-tools", "Bash"]);
      host.send({ id: "m", kind: "user_message", message: "go" });
      await until("its command runs", () => isRunning(commandLine));
      if (kind === "output closed") host.child.stdout?.destroy();
      else if (kind === "pipes closed")
        for (const pipe of [host.child.stdin, host.child.stdout, host.child.stderr]) pipe?.destroy();
      else host.child.kill(kind);
      expect(await host.exited, kind).toEqual(endOf(kind));
    }
    await until(`its command is gone after ${kind}`, () => !isRunning(commandLine));
  }
  const last = stage.sessions().map((session) => {
    const log = stage.log(session);
    expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
    return log.at(-1)?.type;
  });
  expect(last).toHaveLength(count);
  // Nobody says good-bye who is killed.
  expect(last.filter((type) => type !== "session.closed")).toHaveLength(killed);
});

const endOf = (kind: (typeof ends)[number] | undefined): { code: number | null; signal: string | null } =>
  kind === "SIGKILL"
    ? { code: null, signal: "SIGKILL" }
    : { code: kind === "SIGTERM" ? 143 : kind === "SIGINT" ? 130 : 74, signal: null };

/** A shell between us and the runtime, which is killed: nobody is left to close anything. */
async function killShell(stage: Stage): Promise<void> {
  const program = `const keel = require("node:child_process").spawn(process.argv[1], process.argv.slice(2));
    keel.stdin.write('{"id":"m","kind":"user_message","message":"go"}\\n'); keel.stdout.resume(); keel.stderr.resume();
    process.stdout.write(String(keel.pid) + "\\n");`;
  const shell = spawn(process.execPath, ["-e", program, command, "desktop", "--allowed-tools", "Bash"], {
    cwd: stage.project,
    env: { PATH: process.env["PATH"], ...stage.env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void shell.kill("SIGKILL"));
  const [pid] = await once(shell.stdout, "data");
  await until("its command runs", () => isRunning(commandLine));
  shell.kill("SIGKILL");
  await until("the runtime is gone", () => !existsSync(`/proc/${Number(String(pid))}`));
}

const commandLine = ["sleep", `300.${process.pid}`].join("\0");

const isRunning = (words: string): boolean =>
  readdirSync("/proc").some((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, "utf8").startsWith(words);
    } catch {
      // It has ended meanwhile.
      return false;
    }
  });

function generator(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
