/** The reading side of a command's output: one real pipe, or Node's two sockets where no pipe can be made. */
import type { ChildProcess, StdioOptions } from "node:child_process";
import { closeSync } from "node:fs";
import net from "node:net";
import type { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { letGo } from "./let-go.ts";
import type { Pipe } from "./pipe.ts";

const bufferBytes = 65_536;

/** A command that has ended has written all it will; this is for a child that goes on writing into the same pipe. */
const maxDrainMs = 200;
/** What is written lies ready in the pipe: turns of the event loop without news mean that it was all read. */
const idleTurns = 3;
/**
 * No pipe holds more, so that what comes behind it was written after the end, by somebody else. To read on would only
 * push the last words of the command out of what is kept.
 */
const maxPipeBytes = 65_536;
const maxSocketBytes = 1_048_576;
/** Who stays behind may write, so that it does not block or break, but not at the cost of our time. */
const pauseAfterReadMs = 10;

/**
 * What most commands print is read as fast as it comes. After that a command is read at a run: as fast as it comes while
 * it is alone, with a look now and then whether others wait. One that goes on and on is read at a walk: it waits at its
 * pipe, and takes neither our time nor the processor from others.
 */
type Pace = { readonly from: number; readonly bytesPerRest: number; readonly restMs: number };
const paces: readonly Pace[] = [
  { from: 16 * 2 ** 30, bytesPerRest: 3 * 2 ** 17, restMs: 15 },
  { from: 64 * 2 ** 20, bytesPerRest: 8 * 2 ** 20, restMs: 1 },
];
/** Where our own time comes late, others wait for theirs: then it is slower still. */
const lateMs = 2;
const restPerLateMs = 4;
const maxRestMs = 100;

export class Intake {
  /** For `spawn`: no input, and where both outputs go. */
  readonly stdio: StdioOptions;
  readonly #pipe: Pipe | undefined;
  #take: (bytes: Uint8Array) => void;
  #streams: readonly Readable[] = [];
  #received = 0;
  #open = 0;
  #left = false;
  #isEnding = false;
  #sinceRest = 0;

  constructor(pipe: Pipe | undefined, take: (bytes: Uint8Array) => void) {
    this.#pipe = pipe;
    this.#take = take;
    this.stdio = pipe ? ["ignore", pipe.write, pipe.write] : ["ignore", "pipe", "pipe"];
  }

  /** Called right after `spawn`, whether the process came up or not. */
  attach(child: ChildProcess | undefined): void {
    if (this.#pipe) closeSync(this.#pipe.write);
    const sockets = [child?.stdout, child?.stderr].filter((stream) => stream != null);
    this.#streams = this.#pipe
      ? [this.#readPipe(this.#pipe.read)]
      : sockets.map((stream) => this.#readSocket(stream));
    this.#open = this.#streams.length;
    for (const stream of this.#streams) {
      stream.once("close", () => this.#open--);
      stream.on("error", () => stream.destroy()); // A broken pipe ends the output, not the harness.
    }
  }

  /** After a process has ended: reads what it wrote, without waiting for whoever else holds the pipe. */
  async drain(): Promise<void> {
    const endsAt = performance.now() + maxDrainMs;
    this.#isEnding = true;
    this.#left = false;
    for (const stream of this.#streams) stream.resume();
    const endBytes = this.#received + (this.#pipe ? maxPipeBytes : maxSocketBytes);
    let quiet = 0;
    while (quiet < idleTurns && this.#open > 0 && this.#received < endBytes && performance.now() < endsAt) {
      const before = this.#received;
      await nextTurn();
      quiet = this.#received === before ? quiet + 1 : 0;
    }
  }

  /** From now on output is read at leisure, and dropped if nobody takes it: closing the pipe would kill who writes. */
  leave(take: (bytes: Uint8Array) => void = () => undefined): void {
    this.#left = true;
    this.#take = take;
    for (const stream of this.#streams) letGo(stream);
  }

  /** Returns whether to read on at once. */
  #receive(stream: Readable, bytes: Uint8Array): boolean {
    this.#received += bytes.length;
    this.#take(bytes);
    if (this.#left) {
      setTimeout(() => stream.resume(), pauseAfterReadMs).unref();
      return false;
    }
    const restMs = this.#restAfter(bytes.length);
    if (restMs === undefined) return true;
    rest(restMs, () => stream.resume());
    return false;
  }

  /** How long to rest now, if at all. */
  #restAfter(bytes: number): number | undefined {
    const pace = this.#isEnding ? undefined : paces.find(({ from }) => this.#received >= from);
    if (!pace) return undefined;
    this.#sinceRest += bytes;
    if (this.#sinceRest < pace.bytesPerRest) return undefined;
    this.#sinceRest = 0;
    return pace.restMs;
  }

  #readPipe(descriptor: number): Readable {
    // One buffer for all reads: endless output makes no garbage.
    const onread = {
      buffer: new Uint8Array(bufferBytes),
      callback: (count: number, buffer: Uint8Array) => this.#receive(socket, buffer.subarray(0, count)),
    };
    const socket = new net.Socket({ fd: descriptor, readable: true, writable: false, onread });
    return socket.resume();
  }

  #readSocket(stream: Readable): Readable {
    return stream.on("data", (bytes: Buffer) => {
      if (!this.#receive(stream, bytes)) stream.pause();
    });
  }
}

function rest(ms: number, then: () => void): void {
  const dueAt = performance.now() + ms;
  setTimeout(() => {
    const late = performance.now() - dueAt;
    if (late < lateMs) then();
    else setTimeout(then, Math.min(late * restPerLateMs, maxRestMs)).unref();
  }, ms).unref();
}
