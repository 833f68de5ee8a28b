/** A program that stays: words go in and come out until it is closed, and under the guard nothing of it outlives Keel. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { endFamily } from "./end-family.ts";
import { commandEnvironment, markVariable, type ProcessEnvironment } from "./environment.ts";
import type { ProcessGuard } from "./process-guard.ts";
import { bornOf } from "./process-table.ts";
import { ProcessTree } from "./process-tree.ts";

export type ServerProcess = {
  readonly input: Writable;
  readonly output: Readable;
  /** Settles when it has ended or could not be started, with what there is to say about it. */
  readonly over: Promise<string>;
  /** Ends it and all that it started. */
  stop(): Promise<void>;
};

const graceMs = 300;
/** What is kept of what it complains about. */
const maxComplaint = 500;

/** The command is run by bash, which becomes its program. */
export async function startServer(
  command: string,
  { cwd, env, guard }: { cwd: string; env: ProcessEnvironment; guard: ProcessGuard },
): Promise<ServerProcess> {
  const post = await guard.post();
  const mark = guard.newMark();
  const launched = post.launch({
    file: "bash",
    args: ["-c", `exec ${command}`],
    cwd,
    env: { ...commandEnvironment(env), [markVariable]: mark },
  });
  const { options } = launched;
  const child: ChildProcessByStdio<Writable, Readable, Readable> = spawn(launched.file, [...launched.args], {
    ...{ cwd: options.cwd, env: { ...options.env }, detached: options.detached },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let complaint = "";
  child.stderr.on("data", (chunk: Buffer) => {
    complaint = (complaint + chunk.toString("utf8")).slice(-maxComplaint);
  });
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on("error", () => undefined);
  const over = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(`it could not be started: ${error.message}`));
    child.once("exit", (code, signal) =>
      resolve([`it ended with ${code ?? signal}`, complaint.trim()].filter(Boolean).join(": ")),
    );
  });
  const since = child.pid === undefined ? 0 : bornOf(child.pid);
  return {
    input: child.stdin,
    output: child.stdout,
    over,
    async stop() {
      if (child.pid !== undefined)
        await endFamily(new ProcessTree({ pid: child.pid, mark, since, role: launched.role }), { graceMs });
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    },
  };
}
