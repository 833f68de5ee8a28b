// Opens a place, runs commands in it that leave others behind, and waits to be ended; or ends by itself.
import { openProcessGuard } from "../../keel/src/workspace/processes/process-guard.ts";
import { nodeShell } from "../../keel/src/workspace/processes/shell.ts";
import { confinedGuard } from "../../keel/src/workspace/sandbox/confined-guard.ts";
import { LocalSandbox } from "../../keel/src/workspace/sandbox/sandbox.ts";

const [root = "/", temporary = "/tmp", how = "close"] = process.argv.slice(2);
const env = { PATH: process.env["PATH"] ?? "", HOME: "/", TMPDIR: temporary };
const guard = openProcessGuard({ env });
const sandbox = new LocalSandbox({ env, guard });
const { layer, why } = await sandbox.describe();
if (layer === "none") {
  process.stdout.write(`none: ${why}\n`);
  process.exit(0);
}
process.stdout.write("opening\n");
const inside = confinedGuard(guard, () =>
  sandbox.open({
    writable: [root],
    unreadable: [],
    readable: [],
    scratch: [],
    unixSockets: [],
    unwritable: [`${root}/.keel`, `${root}/.mcp.json`],
    nested: "refused",
  }),
);
const shell = nodeShell({ env, guard, inside });
const run = await shell.start({
  text: "sleep 600 & setsid -f sleep 600; env -i sleep 600 & true",
  cwd: root,
  timeoutMs: 60_000,
  maxBytes: 1_000,
});
const { exitCode, output } = await run.over;
process.stdout.write(`ran ${exitCode} ${output}\n`);
if (how === "close") {
  await sandbox.close();
  await guard.close();
  process.exit(0);
}
setInterval(() => undefined, 1_000);
