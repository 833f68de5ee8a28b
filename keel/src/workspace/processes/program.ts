/** Runs one program with words on its input: a hook. Bounded, guarded, and never held up by a pipe that nobody reads. */
import type { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import type { ProgramEnd, ProgramRequest, RunProgram } from "../../ports/hook-programs.ts";
import type { ProcessEnvironment } from "./environment.ts";
import { type GuardedChild, spawnGuarded } from "./guarded-child.ts";
import type { ProcessGuard } from "./process-guard.ts";

/** What a program wrote last is on its way when it has ended; who holds the pipe longer is not waited for. */
const drainMs = 100;
const graceMs = 500;
/** Who goes on by itself says so within these. */
const maxFirstCharacters = 1_000;
/** How often somebody is told what a program has printed so far. */
const tellEveryMs = 1_000;

export function programs(around: { env: ProcessEnvironment; guard: ProcessGuard }): RunProgram {
  return async (request, signal) => {
    const { file, args, cwd, env } = request;
    return run(await spawnGuarded({ file, args, cwd, env }, around, signal), request, signal);
  };
}

async function run(
  { child, end: endAll, ...guarded }: GuardedChild,
  request: ProgramRequest,
  signal: AbortSignal,
): Promise<ProgramEnd> {
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("exit", (code) => resolve(code));
    child.once("error", reject);
  });
  const stop = (): void => void endAll(graceMs);
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  const stdout = collect(child.stdout, request.maxBytes);
  const stderr = collect(child.stderr, request.maxBytes);
  child.stdin.end(request.input);
  const said = () => ({ stdout: stdout.text(), stderr: stderr.text(), cut: stdout.cut() || stderr.cut() });
  const untold = tellNow(said, request.heard);
  const release = (): void => {
    untold();
    signal.removeEventListener("abort", stop);
    guarded.release();
  };
  const leaving = new Promise<number>((resolve) => {
    const look = (): void => {
      const printed = stdout.text();
      const ms = request.leaves?.(printed);
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
      untold();
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

/** Returns a function that ends it. */
function tellNow(said: () => { stdout: string; stderr: string }, heard: ProgramRequest["heard"]): () => void {
  if (!heard) return () => undefined;
  let told = 0;
  const timer = setInterval(() => {
    const { stdout, stderr } = said();
    if (stdout.length + stderr.length === told) return;
    told = stdout.length + stderr.length;
    heard({ stdout, stderr });
  }, tellEveryMs).unref();
  return () => clearInterval(timer);
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
  const done = new Promise<void>((resolve) => stream.once("close", () => resolve()));
  return { done, text: () => Buffer.concat(kept).toString("utf8"), cut: () => cut };
}
