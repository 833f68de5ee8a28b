/**
 * A program that is talked to for as long as it lives: a server on its standard streams. It runs under the guard, so it
 * never outlives Keel, and when it ends whatever it has started ends with it: nobody else would ever use that.
 */
import type { Readable, Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import type { ProcessEnvironment } from "./environment.ts";
import { spawnGuarded } from "./guarded-child.ts";
import type { Program } from "./launch.ts";
import type { ProcessGuard } from "./process-guard.ts";

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
export function pipedPrograms(around: { env: ProcessEnvironment; guard: ProcessGuard }) {
  return async (program: Program): Promise<Piped> => {
    const { child, end, release } = await spawnGuarded(program, around);
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", reject);
    });
    const { stdin, stdout, stderr } = child;
    const ended = new Promise<string>((resolve) => {
      child.once("exit", (code, signal) => resolve(signal ?? `exit code ${code}`));
    });
    let stopping: Promise<void> | undefined;
    const stop = async (): Promise<void> => {
      stdin.end();
      await Promise.race([ended, pause(farewellMs)]);
      await end(graceMs);
      release();
    };
    const stopOnce = (): Promise<void> => {
      stopping ??= stop();
      return stopping;
    };
    void ended.then(stopOnce);
    return { stdin, stdout, stderr, ended, stop: stopOnce };
  };
}
