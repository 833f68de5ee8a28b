/**
 * Whether whoever reads our output has gone, without writing to it. A program that was killed while a command of ours
 * runs is otherwise noticed only with the next word, which may come an hour later.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync, readSync, type Stats } from "node:fs";

/** False where that cannot be known. */
export function hasLostReader(descriptor: number): boolean {
  try {
    const stat = fstatSync(descriptor);
    if (stat.isFIFO()) return !hasPipeReader(descriptor);
    return stat.isSocket() && !isInput(stat) && isNonBlocking(descriptor) && isSocketEnded(descriptor);
  } catch {
    return false; // No procfs, or no such descriptor.
  }
}

/** To open a pipe for writing without waiting fails when nobody has it open for reading. */
function hasPipeReader(descriptor: number): boolean {
  try {
    closeSync(openSync(`/proc/self/fd/${descriptor}`, constants.O_WRONLY | constants.O_NONBLOCK));
    return true;
  } catch (thrown) {
    return codeOf(thrown) !== "ENXIO";
  }
}

/** One socket for both ways, as inetd and socat give it: what is read there is our input, and so is its end. */
function isInput({ dev, ino }: Stats): boolean {
  const input = fstatSync(0);
  return input.dev === dev && input.ino === ino;
}

/** Nobody sends anything to our output; what can be read from it is only its end. */
function isSocketEnded(descriptor: number): boolean {
  try {
    return readSync(descriptor, new Uint8Array(1)) === 0;
  } catch (thrown) {
    return codeOf(thrown) === "ECONNRESET";
  }
}

/** Reading from a socket that blocks would never come back. */
function isNonBlocking(descriptor: number): boolean {
  const flags =
    /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8"))?.[1] ?? "0";
  return (Number.parseInt(flags, 8) & constants.O_NONBLOCK) !== 0;
}

const codeOf = (thrown: unknown): string =>
  thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
