/** What a server says on stderr: a bounded private file for people, and its last words for the reason of a failure. */
import { chmod, mkdir, open } from "node:fs/promises";
import path from "node:path";
import type { Readable } from "node:stream";
import { maxStderrBytes, stderrTailCharacters } from "./limits.ts";

export type StderrLog = { /** The last words, in one piece. */ tail(): string };

/** Reads to the end, whatever becomes of the file: a full pipe would stop the server. */
export function keepStderr(stderr: Readable, file: string | undefined): StderrLog {
  let tail = "";
  let written = 0;
  const handle = file === undefined ? Promise.resolve(undefined) : openLog(file);
  let writing: Promise<unknown> = handle;
  stderr.on("data", (chunk: Buffer) => {
    tail = (tail + chunk.toString("utf8")).slice(-stderrTailCharacters);
    const room = maxStderrBytes - written;
    if (room <= 0) return;
    const part = chunk.subarray(0, room);
    written += part.length;
    const rest = written >= maxStderrBytes ? "\n(what came after this was left out)\n" : "";
    writing = writing.then(async () => {
      await (await handle)?.appendFile(Buffer.concat([part, Buffer.from(rest)]));
    });
    writing.catch(() => undefined); // A log that cannot be written must not end the server.
  });
  stderr.on("error", () => undefined); // What came before it counts.
  stderr.once("close", () => {
    void writing.then(async () => (await handle)?.close()).catch(() => undefined);
  });
  return { tail: () => tail.trim() };
}

/** Starts anew with each connection: what an earlier one said is old news. */
async function openLog(file: string) {
  try {
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    const handle = await open(file, "w", 0o600);
    await chmod(file, 0o600);
    return handle;
  } catch {
    return undefined; // As above: no log is no reason to have no server.
  }
}
