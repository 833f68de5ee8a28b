/**
 * The guard where no namespace can be made: a small process beside Keel that waits for Keel's end, and then ends
 * everything that carries the mark of its commands. What has cleared its environment is not found.
 */
import { spawn } from "node:child_process";
import net from "node:net";
import { markVariable } from "./environment.ts";
import { hasProcessTable } from "./process-table.ts";

export type Sweeper = { readonly gone: Promise<void>; close(): Promise<void> };

/** `$0` is the name in the marks. Looked for again and again, since who forks meanwhile is missed by one look. */
const words = `cat >/dev/null
for round in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  found=$(grep -l "${markVariable}=$0[.]" /proc/[0-9]*/environ 2>/dev/null)
  [ -n "$found" ] || exit 0
  for file in $found; do
    pid=\${file#/proc/}
    kill -KILL "\${pid%/*}" 2>/dev/null
  done
done`;

/** Undefined where there is no process table to be searched. */
export async function startSweeper(
  name: string,
  { path }: { path: string | undefined },
): Promise<Sweeper | undefined> {
  if (!hasProcessTable()) return undefined;
  const child = spawn("sh", ["-c", words, name], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
    // Without the mark: it must not find itself.
    env: { PATH: path },
    cwd: "/",
  });
  const { stdin } = child;
  stdin.on("error", () => undefined); // It has ended; `gone` tells.
  const started = await new Promise<boolean>((resolve) => {
    child.once("spawn", () => resolve(true)).once("error", () => resolve(false));
  });
  if (!started) return undefined;
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  child.unref();
  if (stdin instanceof net.Socket) stdin.unref();
  return {
    gone,
    async close() {
      child.ref();
      stdin.end();
      await gone;
    },
  };
}
