// A process that starts commands under a guard and then waits to be killed: `guard-child.ts on|off CWD COMMAND…`.
import { openProcessGuard } from "../../keel/src/workspace/processes/process-guard.ts";
import { nodeShell } from "../../keel/src/workspace/processes/shell.ts";

const [wish, cwd = "/", ...commands] = process.argv.slice(2);
const env = process.env;
const guard = openProcessGuard({ env, wish: wish === "off" ? "off" : "on" });
const shell = nodeShell({ env, guard });
for (const text of commands)
  await shell.start({ text, cwd, timeoutMs: Number.POSITIVE_INFINITY, maxBytes: 1_000 });
process.stdout.write(`${JSON.stringify(await guard.describe())}\n`);
setInterval(() => undefined, 1_000);
