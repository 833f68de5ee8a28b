// Ends of a runner: slow readers get everything, closed pipes crash nothing, and a lagging reader costs no memory, also not of
// the desktop.

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { reply, replyWith, toolUse } from "../../keel/src/testing/reply.ts";
import { countOf, seed } from "../support/budget.ts";
import { verifies } from "../support/verifies.ts";
import { type Line, startDesktop, startHost } from "./runner-host.ts";
import { command, openStage } from "./stage.ts";

const uuid = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;

test("whatever its reader's speed, the lines of every end are whole", { timeout: 3_600_000 }, async () => {
  verifies("G14", "G40");
  const stage = await openStage({
    replies: [],
    otherwise: replyWith({ chunkChars: 50_000 }, "words and words\n\n".repeat(10_000)),
  });
  const random = generator(seed());
  for (let run = 0; run < countOf("runner-pipes"); run++) {
    const host = startHost(stage);
    host.child.stdout?.pause();
    host.send({ type: "message", id: uuid(1), content: "go" });
    host.end();
    // In sips of random size, with pauses: the process waits for its reader.
    const slow = Math.floor(random() * 30);
    for (let sip = 0; sip < 20; sip++) {
      host.child.stdout?.resume();
      await pause(1);
      host.child.stdout?.pause();
      await pause(slow);
    }
    host.child.stdout?.resume();
    expect(await host.exited).toEqual({ code: 0, signal: null });
    expect(host.stray).toEqual([]);
    expect(host.lines.at(-1)?.type).toBe("shutdown");
    const spoken = host.lines.filter(({ type }) => type === "assistant_text").map((line) => line["text"]);
    expect(spoken.join("")).toBe("words and words\n\n".repeat(10_000));
  }
});

test("a pipe that closes at any moment raises no uncaught error, and the log is whole", {
  timeout: 3_600_000,
}, async () => {
  verifies("G15");
  const stage = await openStage((_, { assistantTurns }) =>
    assistantTurns < 4
      ? replyWith({ delayMs: 15 }, "step", toolUse("Read", { file_path: "none" }))
      : reply("the end"),
  );
  const random = generator(seed() + 1);
  for (let run = 0; run < countOf("runner-pipes"); run++) {
    const which = (["stdin", "stdout", "stderr"] as const)[Math.floor(random() * 3)] ?? "stdout";
    const child = spawn(command, ["runner"], {
      cwd: stage.project,
      env: { PATH: process.env["PATH"], ...stage.env },
    });
    const err: Buffer[] = [];
    child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
    child.stdout.resume();
    child.stdin.on("error", () => undefined);
    const exited = new Promise<number | null>((resolve) => child.on("exit", resolve));
    child.stdin.write(`${JSON.stringify({ type: "message", content: "go" })}\n`);
    await pause(random() * 800);
    child[which].destroy();
    if (which === "stderr") child.stdin.end();
    const code = await exited;
    const about = `${which}: ${Buffer.concat(err)}`;
    expect(which === "stdout" ? [0, 74] : [0], about).toContain(code);
    expect(Buffer.concat(err).toString(), about).toBe("");
  }
  for (const session of stage.sessions()) {
    const log = stage.log(session);
    expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
    expect(log.at(-1)?.type).toBe("session.closed");
  }
});

const wires = {
  runner: {
    suite: "runner-slow-reader",
    start: startHost,
    first: "init",
    message: { type: "message", content: "go" },
    last: { type: "result", success: true },
    said: (line: Line) => (line.type === "assistant_text" ? [String(line["text"])] : []),
    // Nothing is read before all was said.
    kilobytesEachSecond: 0,
  },
  desktop: {
    suite: "desktop-slow-reader",
    start: startDesktop,
    first: "ready",
    message: { id: "m", kind: "user_message", message: "go" },
    last: { type: "done", id: "m", data: { status: "completed" } },
    said: (line: Line) => (line.type === "token" ? [String(line["token"])] : []),
    kilobytesEachSecond: 1,
  },
} as const;

test.each(["runner", "desktop"] as const)(
  "a reader that does not read, or hardly, costs little memory, however much there is to tell: %s",
  { timeout: 3_600_000 },
  async (name) => {
    verifies("G20");
    const megabytes = countOf(wires[name].suite);
    const quick = await tellMuch(name, megabytes, "quick");
    const slow = await tellMuch(name, megabytes, "slow");
    // Fewer and longer pieces, but not a letter less.
    expect(slow.said).toBe(quick.said);
    expect(slow.bytes).toBeLessThan(Math.max(waitingBytes, (megabytes * 1_000_000) / 2));
    expect(slow.peakMegabytes - quick.peakMegabytes).toBeLessThan(32);
  },
);

/** What may wait for a reader before pieces are put together. */
const waitingBytes = 6_000_000;

/** Replies of very many short paragraphs: each is a line of its own, many times longer than itself. */
async function tellMuch(
  name: keyof typeof wires,
  megabytes: number,
  reader: "quick" | "slow",
): Promise<{ said: string; bytes: number; peakMegabytes: number }> {
  const wire = wires[name];
  const paragraph = "word\n\n";
  const bytesPerLine = 110;
  // What one reply may have without being read at a walk.
  const paragraphs = Math.ceil((megabytes * 1_000_000) / bytesPerLine);
  const paragraphsPerReply = Math.min(50_000, paragraphs);
  const turns = Math.ceil(paragraphs / paragraphsPerReply);
  const text = paragraph.repeat(paragraphsPerReply);
  // A provider that counts few tokens: the conversation is to be long, not to be shortened.
  const few = { chunkChars: paragraph.length, usage: { inputTokens: 10, outputTokens: 10 } };
  const stage = await openStage((_, { assistantTurns }) =>
    assistantTurns < turns
      ? replyWith(few, text, toolUse("Write", { file_path: `${assistantTurns}`, content: "" }))
      : reply("the end"),
  );
  const host = wire.start(stage, ["--allowed-tools", "Write", "--max-turns", String(turns + 1)]);
  await host.next(wire.first);
  let bytes = 0;
  host.child.stdout?.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
  });
  if (reader === "slow") host.child.stdout?.pause();
  host.send(wire.message);
  const peak = (): number =>
    Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${host.child.pid}/status`, "utf8"))?.[1] ?? 0) / 1_000;
  // The log has the turn's end: everything was said, and the slow one has heard next to nothing of it.
  const isOver = (): boolean => stage.log().some(({ type }) => type === "turn.finished");
  const deadline = performance.now() + 1_200_000;
  while (!isOver() && performance.now() < deadline) {
    await pause(200);
    if (reader === "slow" && wire.kilobytesEachSecond > 0)
      host.child.stdout?.read((wire.kilobytesEachSecond * 1_000) / 5);
  }
  expect(isOver()).toBe(true);
  const peakMegabytes = peak();
  host.child.stdout?.resume();
  const { type, ...rest } = wire.last;
  expect(await host.next(type)).toMatchObject(rest);
  host.end();
  await host.exited;
  expect(host.stray).toEqual([]);
  return { said: host.lines.flatMap(wire.said).join(""), bytes, peakMegabytes };
}

function generator(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
