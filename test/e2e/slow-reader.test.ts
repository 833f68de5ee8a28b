// A reader that takes nothing while many events come: they do not pile up in memory, and what is whole still arrives.
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { reply, replyWith, toolUse } from "../../keel/src/testing/reply.ts";
import { countOf } from "../support/budget.ts";
import { verifies } from "../support/verifies.ts";
import { lines, openStage } from "./stage.ts";

const megabyte = 1_000_000;
/** What one piece of a reply is on the wire, by its line of JSON. */
const bytesPerPiece = 270;
const turns = 10;
const chunkChars = 4;

test("memory stays flat although the reader does not read", { timeout: 3_600_000 }, async () => {
  verifies("G20");
  const pieces = Math.ceil((countOf("slow-reader") * megabyte) / bytesPerPiece / turns);
  const quick = await run({ pieces, reader: "quick" });
  const slow = await run({ pieces, reader: "slow" });
  expect(quick.bytesPerPiece).toBeGreaterThanOrEqual(bytesPerPiece);
  // Pieces may be left out; whole messages may not.
  expect(slow.whole).toEqual(quick.whole);
  expect(slow.peakMegabytes - quick.peakMegabytes).toBeLessThan(32);
});

async function run({ pieces, reader }: { pieces: number; reader: "quick" | "slow" }) {
  const text = "word".repeat(pieces);
  const stage = await openStage((_, { assistantTurns }) =>
    assistantTurns < turns
      ? replyWith({ chunkChars }, text, toolUse("Read", { file_path: `none-${assistantTurns}` }))
      : reply("the end"),
  );
  const { child, out, ended } = stage.start([
    ...["-p", "go", "--output-format", "stream-json", "--verbose", "--include-partial-messages"],
  ]);
  child.stdin?.end();
  if (reader === "slow") child.stdout?.pause();
  let peak = 0;
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  const measure = async (): Promise<void> => {
    while (!isOver) {
      peak = Math.max(peak, peakOf(child.pid));
      await pause(50);
    }
  };
  const measured = measure();
  if (reader === "slow") {
    // The log has the turn's end: everything was said, and nobody has heard it yet.
    while (!isOver && !stage.log().some(({ type }) => type === "turn.finished")) await pause(500);
    child.stdout?.resume();
  }
  expect(await ended).toMatchObject({ code: 0 });
  await measured;
  const messages = lines(out());
  const [piece] = out()
    .split("\n", 100)
    .filter((line) => line.includes("text_delta"));
  return {
    bytesPerPiece: piece?.length ?? 0,
    whole: messages.filter(({ type }) => type !== "stream_event").map(({ type }) => type),
    peakMegabytes: peak,
  };
}

/** The most memory that a process has had, in megabytes. */
function peakOf(pid: number | undefined): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1_000;
  } catch {
    return 0; // It has ended.
  }
}
