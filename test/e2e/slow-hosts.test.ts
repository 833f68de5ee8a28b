// Hosts that read slowly, or not at all, while there is very much to tell: nothing is lost, and it does not pile up.
import { closeSync, fstatSync, openSync, readFileSync, readSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { reply, replyWith, toolUse } from "../../keel/src/testing/reply.ts";
import { countOf } from "../support/budget.ts";
import { verifies } from "../support/verifies.ts";
import { type Line, startDesktop, startHost } from "./runner-host.ts";
import { logsIn, openStage } from "./stage.ts";

const wires = {
  runner: {
    megabytes: () => countOf("runner-slow-reader"),
    start: startHost,
    first: "init",
    message: { type: "message", content: "go" },
    last: { type: "result", success: true },
    said: (line: Line) => (line.type === "assistant_text" ? [String(line["text"])] : []),
    // Nothing is read before all was said.
    kilobytesEachSecond: 0,
  },
  desktop: {
    megabytes: () => countOf("desktop-slow-reader"),
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
    const megabytes = wires[name].megabytes();
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
  const isOver = (): boolean => {
    const [log] = logsIn(path.join(stage.home, "projects"));
    return log !== undefined && endOf(log).includes('"type":"turn.finished"');
  };
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

/** The model server stands in this process: to read a long log as a whole five times a second would stop it. */
function endOf(file: string): string {
  const fd = openSync(file, "r");
  try {
    const end = Buffer.alloc(4_096);
    return end
      .subarray(0, readSync(fd, end, 0, end.length, Math.max(0, fstatSync(fd).size - end.length)))
      .toString();
  } finally {
    closeSync(fd);
  }
}
