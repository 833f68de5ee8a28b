/**
 * Reads a pipe through one buffer that is used again and again: what is thrown away, such as a line of a gigabyte,
 * then costs no memory. A terminal or a file is read as a stream is.
 */
import { fstatSync } from "node:fs";
import { Socket } from "node:net";
import type { Readable } from "node:stream";

export type InputListener = {
  /** The chunk is valid only during the call. */
  chunk(bytes: Uint8Array): void;
  end(): void;
};

export type InputReader = { pause(): void; resume(): void };

const bufferBytes = 64 * 1024;

/** `stream` is asked for only where the descriptor is no pipe. */
export function readInput(descriptor: number, stream: () => Readable, listener: InputListener): InputReader {
  return isPipe(descriptor) ? readPipe(descriptor, listener) : readStream(stream(), listener);
}

function readPipe(descriptor: number, listener: InputListener): InputReader {
  let isPaused = false;
  const socket = new Socket({
    fd: descriptor,
    readable: true,
    writable: false,
    onread: {
      buffer: Buffer.alloc(bufferBytes),
      callback(length, buffer) {
        listener.chunk(buffer.subarray(0, length));
        // False stops the reading until it is resumed.
        return !isPaused;
      },
    },
  });
  const end = once(listener.end);
  socket.once("end", end).once("close", end).once("error", end);
  socket.resume();
  return {
    pause() {
      isPaused = true;
      socket.pause();
    },
    resume() {
      isPaused = false;
      socket.resume();
    },
  };
}

function readStream(stream: Readable, listener: InputListener): InputReader {
  const end = once(listener.end);
  stream.on("data", (chunk: Buffer) => listener.chunk(chunk));
  stream.once("end", end).once("close", end).once("error", end);
  return { pause: () => void stream.pause(), resume: () => void stream.resume() };
}

export function isPipe(descriptor: number): boolean {
  try {
    const stat = fstatSync(descriptor);
    return stat.isFIFO() || stat.isSocket();
  } catch {
    // There is no such descriptor, and so nobody at its other end.
    return false;
  }
}

function once(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    work();
  };
}
