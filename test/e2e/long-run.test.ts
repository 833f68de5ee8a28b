// G21: a conversation of very many turns with much output holds no more at its end than it did early on.
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { command, words } from "../../bench/long-output.ts";
import type { LongRunResult } from "../../bench/long-run.ts";
import { startBenchServer } from "../../bench/model-server.ts";
import { bundlePrograms } from "../../bench/processes.ts";
import { budgets, countOf } from "../support/budget.ts";
import { notRunHere } from "../support/not-run.ts";
import { note } from "../support/notes.ts";
import { verifies } from "../support/verifies.ts";

test("turns with 100 KB of output each: memory stays flat, and nothing stays open", async () => {
  verifies("G21", "P32");
  if (process.platform !== "linux") return notRunHere("long run", "the kernel does not tell the peak");
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-long-run-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const programs = await bundlePrograms(path.join(folder, "programs"));
  const server = await startBenchServer(programs.pathOf("programs/model-server"));
  onTestFinished(() => server.close());
  const call = { name: "Bash", input: { command } };
  await server.follow({ toolTurns: 0, call, deltas: 2, callFor: words, usage: "counted" });

  const turns = countOf("long-run");
  const isFull = turns >= budgets["long-run"].full;
  // A short run has a small window, or the first conversation would not be full before its end.
  const size = isFull ? { settledTurn: 200 } : { settledTurn: 20, windowTokens: 40_000 };
  const place = {
    url: server.url,
    cwd: mkdtempSync(`${folder}/work-`),
    home: mkdtempSync(`${folder}/home-`),
  };
  const options = { ...place, turns, words, ...size };
  const { result, peakBytes } = await programs.run<LongRunResult>("programs/long-run", options);

  const [report] = await server.report();
  expect(report?.arrivedAt.length).toBeGreaterThan(1.9 * turns);
  expect(report?.violations).toEqual([]);
  const peakMb = Math.round(peakBytes / 2 ** 20);
  const grownKb = Math.round(result.growthBytes / 102.4) / 10;
  note("counts", `long-run ${turns} (peak ${peakMb} MB, ${grownKb} KB more per turn)`);
  expect(peakMb).toBeLessThan(300);
  // Over few turns the code that is still being made faster is more than all that they leave behind.
  expect(grownKb).toBeLessThan(isFull ? 10 : 60);
  expect(result.moreHandles).toBeLessThanOrEqual(0);
}, 1_800_000);
