// Interrupts at seeded moments of a turn with real processes: the turn ends soon, and so does everything it started.
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { Tool } from "../../keel/src/ports/tool.ts";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { bashTool } from "../../keel/src/tools/bash.ts";
import { openProcessGuard } from "../../keel/src/workspace/processes/process-guard.ts";
import { nodeShell } from "../../keel/src/workspace/processes/shell.ts";
import { randomOf } from "../store/random.ts";
import { countOf, seed } from "../support/budget.ts";
import { plainEnvironment, processesIn } from "../support/real-shell.ts";
import { realClock, realWorkspace } from "../support/real-workspace.ts";
import { openTestSession } from "../support/test-session.ts";
import { verifies } from "../support/verifies.ts";

const shapes = [
  "sleep 60",
  "trap '' TERM INT; sleep 60; sleep 60",
  "yes",
  "setsid sleep 60 & (setsid -f sleep 60); sleep 60",
  "(trap '' TERM; sleep 60; sleep 60) & wait",
  "for i in $(seq 200); do bash -c 'sleep 0.05'; done",
  "sleep 0.05; echo done",
];

test("an interrupt ends the turn within its time, and nothing of it is left", {
  timeout: 600_000,
}, async () => {
  verifies("G13");
  const random = randomOf(seed());
  const guard = openProcessGuard({ env: plainEnvironment });
  const cwd = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-interrupt-")));
  onTestFinished(async () => {
    await guard.close();
    rmSync(cwd, { recursive: true, force: true });
  });
  const delays: number[] = [];
  for (let run = 0; run < countOf("interrupts"); run++) {
    const command = random.pick(shapes);
    const opened = await openTestSession({
      tools: [bashTool as Tool],
      workspace: { ...realWorkspace({ cwd }), shell: nodeShell({ env: plainEnvironment, guard }) },
      clock: realClock,
      script: { replies: [reply(toolUse("Bash", { command })), reply("Done.")] },
    });
    const said = opened.say("go");
    await pause(random.below(300));
    const before = performance.now();
    await opened.session.submit({ type: "interrupt" });
    await said;
    delays.push(performance.now() - before);
    // One that had ended before is not interrupted; whatever happened, the turn has exactly one end.
    expect(opened.all("turn.finished")).toHaveLength(1);
    await opened.session.close("ended");
  }
  const endsAt = performance.now() + 2_000;
  while (processesIn(cwd).length > 0 && performance.now() < endsAt) await pause(20);
  expect(processesIn(cwd)).toEqual([]);
  const worst = delays.toSorted((left, right) => left - right)[Math.ceil(delays.length * 0.99) - 1] ?? 0;
  // The figure is 300 ms on a machine that does nothing else: the long command holds it to that.
  expect(worst).toBeLessThan(process.env["KEEL_TEST_COUNTS"] === undefined ? 3_000 : 300);
});
