/**
 * A program that is talked to for as long as it lives: a server on its standard streams. It runs under the guard, so it
 * never outlives Keel, and when it ends whatever it has started ends with it: nobody else would ever use that.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { endFamily } from "./end-family.ts";
import { commandEnvironment, markVariable, type ProcessEnvironment } from "./environment.ts";
import type { ProcessGuard } from "./process-guard.ts";
import { bornOf } from "./process-table.ts";
import { ProcessTree } from "./process-tree.ts";

export type PipedOptions = {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
};

export type Piped = {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Settles when the program itself has ended, with how: `exit code 1`, `SIGKILL`. Never rejects. */
  readonly ended: Promise<string>;
  /** Ends it with all that it started: its input is closed first, then it is asked, then killed. */
  stop(): Promise<void>;
};

/** How long a server may take to end by itself once its input is closed. */
const farewellMs = 300;
const graceMs = 500;

/** Rejects when the program cannot be started. */
export function pipedPrograms({ env, guard }: { env: ProcessEnvironment; guard: ProcessGuard }) {
  const inherited = commandEnvironment(env);
  return async (options: PipedOptions): Promise<Piped> => {
    const post = await guard.post();
    const mark = guard.newMark();
    const launched = post.launch({
      file: options.file,
      args: options.args,
      cwd: options.cwd,
      env: { ...inherited, ...options.env, [markVariable]: mark },
    });
    const { cwd, env: given, detached } = launched.options;
    const child: PipedChild = spawn(launched.file, [...launched.args], {
      cwd,
      env: { ...given },
      detached,
      stdio: ["pipe", "pipe", "pipe"],
    });
    await started(child);
    const pid = child.pid ?? 0;
    return pipedOf(child, new ProcessTree({ pid, mark, since: bornOf(pid), role: launched.role }));
  };
}

type PipedChild = ChildProcessByStdio<Writable, Readable, Readable>;

const started = (child: PipedChild): Promise<void> =>
  new Promise((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", reject);
  });

function pipedOf(child: PipedChild, tree: ProcessTree): Piped {
  child.on("error", () => undefined); // A signal that could not be sent: whoever stops it looks again.
  child.stdin.on("error", () => undefined); // Who no longer reads has ended, or will be found out by silence.
  const ended = new Promise<string>((resolve) => {
    child.once("exit", (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  let stopping: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    child.stdin.end();
    await Promise.race([ended, pause(farewellMs)]);
    await endFamily(tree, { graceMs });
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
  };
  const stopOnce = (): Promise<void> => {
    stopping ??= stop();
    return stopping;
  };
  void ended.then(stopOnce);
  return { stdin: child.stdin, stdout: child.stdout, stderr: child.stderr, ended, stop: stopOnce };
}
