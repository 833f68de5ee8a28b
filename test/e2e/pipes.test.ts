// Many ends with readers of every speed, and with pipes that close at any moment: nothing is cut, nothing crashes.
import { spawn } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { reply, replyWith, toolUse } from "../../keel/src/testing/reply.ts";
import { atOnce } from "../support/at-once.ts";
import { countOf, seed } from "../support/budget.ts";
import { verifies } from "../support/verifies.ts";
import { command, lines, openStage, type Stage } from "./stage.ts";

/** More than cores: most of the time they wait for their reader. */
const together = 4;

test("whatever its reader's speed, the output of every exit is whole", { timeout: 3_600_000 }, async () => {
  verifies("G14");
  const stage = await openStage((request) => replyWith({ chunkChars: 100_000 }, "x".repeat(sizeIn(request))));
  const random = generator(seed());
  await atOnce(together, Array(countOf("exits")), async () => {
    // From 1 KB a second, in small sips, to as fast as the machine goes.
    const bytesPerSecond = 10 ** (3 + random() * 5);
    const size = Math.ceil(Math.min(400_000, bytesPerSecond * random() * 2));
    const ended = await readSlowly(stage, { size, bytesPerSecond });
    expect(ended, `${size} bytes at ${Math.round(bytesPerSecond)} B/s`).toEqual({ code: 0, bytes: size + 1 });
  });
});

test("a pipe that closes at any moment raises no uncaught error, and the log is whole", {
  timeout: 3_600_000,
}, async () => {
  verifies("G15");
  const turns = 4;
  const stage = await openStage((_, { assistantTurns }) =>
    assistantTurns < turns
      ? replyWith({ delayMs: 15 }, "step", toolUse("Read", { file_path: "none" }))
      : reply("the end"),
  );
  const random = generator(seed() + 1);
  await atOnce(together, Array(countOf("closed-pipes")), async () => {
    const which = (["stdin", "stdout", "stderr"] as const)[Math.floor(random() * 3)] ?? "stdout";
    const afterMs = random() * 500;
    const ended = await closeOne(stage, { which, afterMs });
    const about = `${which} closed after ${Math.round(afterMs)} ms: ${ended.stderr}`;
    expect([0, 74], about).toContain(ended.code);
    if (which !== "stdout") expect(ended.code, about).toBe(0);
    if (which === "stdin") expect(lines(ended.stdout).at(-1), about).toMatchObject({ result: "the end" });
    expect(ended.stderr, about).toBe("");
  });
  for (const session of stage.sessions()) {
    const log = stage.log(session);
    expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
    expect(log.filter(({ type }) => type === "turn.finished")).toHaveLength(1);
    expect(log.at(-1)?.type).toBe("session.closed");
  }
});

async function readSlowly(stage: Stage, { size, bytesPerSecond }: { size: number; bytesPerSecond: number }) {
  const child = spawn(command, ["-p", `size=${size}`], {
    cwd: stage.project,
    env: { PATH: process.env["PATH"], ...stage.env },
  });
  child.stdin.end();
  child.stderr.resume();
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  let bytes = 0;
  const sip = Math.max(1, Math.ceil(bytesPerSecond / 10));
  const ended = new Promise<void>((resolve) => child.stdout.once("end", resolve));
  child.stdout.on("readable", () => undefined);
  for (let isOver = false; !isOver; ) {
    const chunk: Buffer | null = child.stdout.read(sip) ?? child.stdout.read();
    bytes += chunk?.length ?? 0;
    isOver = await Promise.race([ended.then(() => true), pause(100, false)]);
  }
  return { code: await exited, bytes };
}

async function closeOne(
  stage: Stage,
  { which, afterMs }: { which: "stdin" | "stdout" | "stderr"; afterMs: number },
) {
  const running = stage.start(["-p", "go", "--output-format", "stream-json"]);
  if (which !== "stdin") running.child.stdin?.end();
  await pause(afterMs);
  if (which === "stdin") running.child.stdin?.end();
  else running.child[which]?.destroy();
  return running.ended;
}

function sizeIn(request: object): number {
  return Number(/size=(\d+)/.exec(JSON.stringify(request))?.[1]);
}

/** One step of mulberry32: the same numbers for the same seed. */
function generator(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
