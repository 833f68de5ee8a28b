// A process that starts commands under a guard and then waits to be killed: `guard-child.ts on|off CWD COMMAND…`.
import { openGuard } from "../../keel/src/workspace/processes/guard.ts";
import { nodeShell } from "../../keel/src/workspace/processes/shell.ts";

const [wish, cwd = "/", ...commands] = process.argv.slice(2);
const env = process.env;
const guard = openGuard({ env, wish: wish === "off" ? "off" : "on" });
const shell = nodeShell({ env, guard });
for (const text of commands)
  await shell.start({ text, cwd, timeoutMs: Number.POSITIVE_INFINITY, mostBytes: 1_000 });
process.stdout.write(`${JSON.stringify(await guard.describe())}\n`);
setInterval(() => undefined, 1_000);
