/** Streams of a child that must not keep this process alive. */
import type { Readable, Writable } from "node:stream";

/** By what it can do: the streams that Bun gives a child are no sockets, and those that count can be let go all the same. */
export function letGo(stream: Readable | Writable | null | undefined): void {
  if (stream && "unref" in stream && typeof stream.unref === "function") stream.unref();
}
