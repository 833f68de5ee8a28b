// A process of an ordinary user that floods its guard with processes, stops the flood, and runs one more command.
// `flood-child.ts CWD COMMAND MILLISECONDS` prints one line of JSON.
import { setTimeout as pause } from "node:timers/promises";
import { openProcessGuard } from "../../keel/src/workspace/processes/process-guard.ts";
import { nodeShell } from "../../keel/src/workspace/processes/shell.ts";

const [cwd = "/", text = "", growMs = "2000"] = process.argv.slice(2);
const guard = openProcessGuard({ env: process.env });
const shell = nodeShell({ env: process.env, guard });
const { kind } = await guard.describe();
// Without a namespace around it, a flood is not started at all.
if (kind !== "namespace") {
  process.stdout.write(`${JSON.stringify({ kind })}\n`);
  process.exit(0);
}
const flood = await shell.start({ text, cwd, timeoutMs: 60_000, maxBytes: 10_000 });
await pause(Number(growMs));
const before = performance.now();
await flood.stop();
const stoppedMs = Math.round(performance.now() - before);
const next = await shell.start({
  text: "echo fine; ps -e --no-headers | wc -l",
  cwd,
  timeoutMs: 10_000,
  maxBytes: 10_000,
});
const { output, exitCode } = await next.over;
process.stdout.write(`${JSON.stringify({ kind, stoppedMs, output, exitCode })}\n`);
process.exit(0);
