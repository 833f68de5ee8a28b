// The end of the input of `keel acp` at seeded moments of each phase: the process ends, and nothing of it is left.
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { randomOf } from "../store/random.ts";
import { countOf, seed } from "../support/budget.ts";
import { processesIn } from "../support/real-shell.ts";
import { verifies } from "../support/verifies.ts";
import { allowed, phaseScript, phases } from "./acp-phases.ts";
import { openEditor } from "./acp-stage.ts";
import { allowUnasked } from "./allow-unasked.ts";
import { openStage, until } from "./stage.ts";

test("an editor that is gone ends it within a second, with all that it started", {
  timeout: 3_600_000,
}, async () => {
  verifies("P3", "G9");
  const random = randomOf(seed());
  const names = Object.keys(phases);
  const delays: number[] = [];
  const stage = await openStage(phaseScript, { law: "none" });
  allowUnasked(stage, allowed);
  for (let run = 0; run < countOf("acp-leaves"); run++) {
    const name = names[run % names.length] ?? "";
    const editor = await openEditor(stage, { permit: () => new Promise(() => undefined) });
    const { sessionId } = await editor.begin();
    const said = editor.say(sessionId, `${name} (${run})`).catch(() => "gone");
    if (random.below(5) > 0) await until(name, () => phases[name]?.begun(stage, editor, sessionId) ?? true);
    await pause(random.below(60));
    const before = performance.now();
    expect(await editor.leave(), name).toBe(0);
    delays.push(performance.now() - before);
    expect(await said).toBe("gone");
    await until(`the end of what ${name} started`, () => processesIn(stage.project).length === 0);
  }
  const worst = Math.max(...delays);
  // A figure of a machine that does nothing else: the long command holds it to that.
  if (process.env["KEEL_TEST_COUNTS"] === undefined) return;
  process.stdout.write(`acp-leaves: ${delays.length} ends, the longest took ${worst.toFixed(0)} ms\n`);
  expect(worst).toBeLessThan(1_000);
});
