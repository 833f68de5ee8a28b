// Cancels of `keel acp` at seeded moments of each phase: the prompt is answered as cancelled at once, nothing is told
// after that, and the next prompt works.
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { randomOf } from "../store/random.ts";
import { countOf, seed } from "../support/budget.ts";
import { verifies } from "../support/verifies.ts";
import { allowed, phaseScript, phases } from "./acp-phases.ts";
import { type Editor, openEditor, saidIn } from "./acp-stage.ts";
import { allowUnasked } from "./allow-unasked.ts";
import { openStage, type Stage, until } from "./stage.ts";

/** One process serves so many sessions. */
const perProcess = 20;

test("a cancelled prompt ends at once, whatever it was doing", { timeout: 3_600_000 }, async () => {
  verifies("P3");
  const random = randomOf(seed());
  const delays: number[] = [];
  const names = Object.keys(phases);
  const count = countOf("acp-cancels");
  let opened: { stage: Stage; editor: Editor } | undefined;
  for (let run = 0; run < count; run++) {
    if (run % perProcess === 0) {
      await opened?.editor.leave();
      const stage = await openStage(phaseScript, { law: "none" });
      allowUnasked(stage, allowed);
      opened = { stage, editor: await openEditor(stage, { permit: () => new Promise(() => undefined) }) };
    }
    if (!opened) throw new Error("no editor");
    const { stage, editor } = opened;
    const name = names[run % names.length] ?? "";
    const phase = phases[name];
    const { sessionId } = await editor.begin();
    const said = editor.say(sessionId, `${name} (${run})`);
    // Some are cancelled before they have got so far.
    if (random.below(5) > 0) await until(name, () => phase?.begun(stage, editor, sessionId) ?? true);
    await pause(random.below(60));
    const before = performance.now();
    await editor.agent.notify("session/cancel", { sessionId });
    expect(await said, name).toEqual({ stopReason: "cancelled" });
    delays.push(performance.now() - before);
    const told = editor.updates(sessionId).length;
    await pause(random.below(120));
    const after = editor.updates(sessionId).slice(told);
    expect(after, `${name}: told after its end`).toEqual([]);
    expect(await editor.say(sessionId, "next"), name).toEqual({ stopReason: "end_turn" });
    const next = editor.updates(sessionId).slice(told);
    expect(saidIn(next), name).toBe("Next.");
    expect(
      next.filter(({ sessionUpdate }) => sessionUpdate.startsWith("tool_call")),
      name,
    ).toEqual([]);
    await editor.agent.request("session/close", { sessionId });
  }
  await opened?.editor.leave();
  const sorted = delays.toSorted((left, right) => left - right);
  const worst = sorted[Math.ceil(sorted.length * 0.99) - 1] ?? 0;
  // A figure of a machine that does nothing else: the long command holds it to that.
  if (process.env["KEEL_TEST_COUNTS"] === undefined) return;
  process.stdout.write(
    `acp-cancels: ${sorted.length} cancels, median ${sorted[sorted.length >> 1]?.toFixed(0)} ms, p99 ${worst.toFixed(0)} ms\n`,
  );
  expect(worst).toBeLessThan(300);
});
