/** Runs one program with words on its input: a hook. Bounded, guarded, and never held up by a pipe that nobody reads. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import type { ProgramEnd, ProgramRequest, RunProgram } from "../../ports/hook-programs.ts";
import { endFamily } from "./end-family.ts";
import { commandEnvironment, markVariable, type ProcessEnvironment } from "./environment.ts";
import type { Launched } from "./launch.ts";
import type { ProcessGuard } from "./process-guard.ts";
import { bornOf } from "./process-table.ts";
import { ProcessTree } from "./process-tree.ts";

/** What a program wrote last is on its way when it has ended; who holds the pipe longer is not waited for. */
const drainMs = 100;
const graceMs = 500;
/** Who goes on by itself says so within these. */
const maxFirstCharacters = 1_000;

export function programs({ env, guard }: { env: ProcessEnvironment; guard: ProcessGuard }): RunProgram {
  const inherited = commandEnvironment(env);
  return async (request, signal) => {
    const post = await guard.post();
    const mark = guard.newMark();
    const launched = post.launch({
      file: request.file,
      args: request.args,
      cwd: request.cwd,
      env: { ...inherited, ...request.env, [markVariable]: mark },
    });
    return run(launched, { wish: request, mark, signal });
  };
}

type ProgramChild = ChildProcessByStdio<Writable, Readable, Readable>;

async function run(
  launched: Launched,
  { wish, mark, signal }: { wish: ProgramRequest; mark: string; signal: AbortSignal },
): Promise<ProgramEnd> {
  signal.throwIfAborted();
  const { cwd, env, detached } = launched.options;
  const child: ProgramChild = spawn(launched.file, [...launched.args], {
    cwd,
    env: { ...env },
    detached,
    stdio: ["pipe", "pipe", "pipe"],
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("exit", (code) => resolve(code));
    child.once("error", reject);
  });
  const stop = (): void => {
    if (child.pid === undefined) return;
    const tree = new ProcessTree({ pid: child.pid, mark, since: bornOf(child.pid), role: launched.role });
    void endFamily(tree, { graceMs });
  };
  signal.addEventListener("abort", stop, { once: true });
  const stdout = collect(child.stdout, wish.maxBytes);
  const stderr = collect(child.stderr, wish.maxBytes);
  // Who closes its input, or ends without reading it, has heard enough.
  child.stdin.on("error", () => undefined);
  child.stdin.end(wish.input);
  const said = () => ({ stdout: stdout.text(), stderr: stderr.text(), cut: stdout.cut() || stderr.cut() });
  const release = (): void => {
    signal.removeEventListener("abort", stop);
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
  };
  const leaving = new Promise<number>((resolve) => {
    const look = (): void => {
      const printed = stdout.text();
      const ms = wish.leaves?.(printed);
      if (ms !== undefined) resolve(ms);
      // It is said at the start or not at all.
      if (ms !== undefined || printed.length > maxFirstCharacters) child.stdout.off("data", look);
    };
    child.stdout.on("data", look);
  });
  try {
    const end = await Promise.race([ended.then((exitCode) => ({ exitCode })), leaving]);
    if (typeof end === "number") {
      signal.removeEventListener("abort", stop);
      void goOn(ended, { ms: end, stop, release });
      return { exitCode: null, ...said(), left: true };
    }
    await Promise.race([Promise.all([stdout.done, stderr.done]), pause(drainMs)]);
    release();
    return { ...end, ...said() };
  } catch (thrown) {
    release();
    throw thrown;
  }
}

/** A program that goes on by itself, for as long as it was said; nobody waits for it, and it keeps nobody alive. */
async function goOn(
  ended: Promise<unknown>,
  { ms, stop, release }: { ms: number; stop: () => void; release: () => void },
): Promise<void> {
  const timer = setTimeout(stop, ms).unref();
  await ended.catch(() => undefined);
  clearTimeout(timer);
  release();
}

/** Keeps the start and reads on, so that who writes too much is not stopped by a full pipe. */
function collect(stream: Readable, maxBytes: number) {
  const kept: Buffer[] = [];
  let bytes = 0;
  let cut = false;
  stream.on("data", (chunk: Buffer) => {
    const room = maxBytes - bytes;
    if (chunk.length > room) cut = true;
    if (room <= 0) return;
    const part = chunk.subarray(0, room);
    kept.push(part);
    bytes += part.length;
  });
  stream.on("error", () => undefined); // What came before it counts.
  const done = new Promise<void>((resolve) => stream.once("close", () => resolve()));
  return { done, text: () => Buffer.concat(kept).toString("utf8"), cut: () => cut };
}
