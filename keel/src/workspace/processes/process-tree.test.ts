import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { notRunHere } from "../../../../test/support/not-run.ts";
import { hasProcessTable } from "./process-table.ts";

/** In a session of its own, so that what goes wrong ends only this program. */
const program = `
  import { spawn } from "node:child_process";
  import { once } from "node:events";
  import { ProcessTree } from "${new URL("process-tree.ts", import.meta.url)}";
  const child = spawn("sleep", ["60"]);
  await once(child, "spawn");
  const ended = once(child, "exit");
  const tree = new ProcessTree({ pid: child.pid, mark: "none", since: 0 });
  tree.signal("SIGTERM");
  const [, signal] = await ended;
  console.log("the child ended by " + signal);
`;

test("a child that is still in our own session and group is ended without ending us", async () => {
  if (!hasProcessTable()) return notRunHere("our own session is spared", "no process table");
  const running = spawn(process.execPath, ["--input-type=module", "-e", program], {
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  running.stdout.on("data", (chunk) => {
    said += chunk;
  });
  const code = await new Promise((resolve) => {
    running.on("close", (ended, signal) => resolve(signal ?? ended));
  });
  expect({ code, said }).toEqual({ code: 0, said: "the child ended by SIGTERM\n" });
});
