/**
 * Real pipes. Node connects children by sockets, and behind a socket `> /dev/stderr` fails; and two sockets lose the
 * order between standard output and error. A pipe is both streams in one, as in a terminal.
 */
import { execFile } from "node:child_process";
import { closeSync, constants, openSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import type { ProcessEnvironment } from "./environment.ts";

/** Two descriptors: the reading end does not block, the writing end does. */
export type Pipe = { readonly read: number; readonly write: number };
export type OpenPipe = () => Promise<Pipe | undefined>;

/** Made together, since making them costs a process. Each holds two descriptors until it is used or has waited long. */
const batch = 8;
const maxIdleMs = 10_000;

/** Gives pipes, or nothing where none can be made. Leaves no name behind in the file system. */
export function pipes(
  env: ProcessEnvironment,
  { bun }: Readonly<Record<string, string | undefined>> = process.versions,
): OpenPipe {
  // Bun reads nothing from a pipe that it did not make itself.
  if (bun !== undefined) return async () => undefined;
  const ready: Pipe[] = [];
  let making: Promise<void> | undefined;
  let idle: NodeJS.Timeout | undefined;
  const refill = (): Promise<void> => {
    making ??= make(env)
      .then((made) => void ready.push(...made))
      .finally(() => {
        making = undefined;
      });
    return making;
  };
  return async () => {
    clearTimeout(idle);
    // A process may serve a thousand sessions, and most of them are not running commands.
    idle = setTimeout(() => {
      for (const pipe of ready.splice(0)) closePipe(pipe);
    }, maxIdleMs).unref();
    while (ready.length === 0) {
      try {
        await refill();
      } catch {
        return undefined; // No mkfifo, or nowhere to write: the caller has another way.
      }
    }
    const pipe = ready.shift();
    // Made beside the command, so that the next one need not wait for it; if that fails, the next one hears of it.
    if (ready.length === 0) void refill().catch(() => undefined);
    return pipe;
  };
}

async function make(env: ProcessEnvironment): Promise<Pipe[]> {
  const directory = await mkdtemp(path.join(env["TMPDIR"] || "/tmp", "keel-"));
  try {
    const names = Array.from({ length: batch }, (_, index) => path.join(directory, `${index}`));
    await promisify(execFile)("mkfifo", ["-m", "600", ...names], { env: { PATH: env["PATH"] } });
    return names.map(open);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

export function closePipe({ read, write }: Pipe): void {
  closeSync(read);
  closeSync(write);
}

/** The reader comes first: without one, opening for writing would wait. */
function open(name: string): Pipe {
  const read = openSync(name, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return { read, write: openSync(name, constants.O_WRONLY) };
  } catch (thrown) {
    closeSync(read);
    throw thrown;
  }
}
