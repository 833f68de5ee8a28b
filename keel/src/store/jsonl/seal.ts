/** Closes a torn end: the original is kept beside the log, then the end is cut back to the last whole record. */
import path from "node:path";
import { createWhole, type FileLayer, type OpenFile, writeAll } from "./files.ts";
import { damagedCopy } from "./log-locations.ts";

/** Up to this size the whole log is copied; of a longer one only what is cut off, since the rest stays where it is. */
const MAX_COPIED_BYTES = 64 * 1024 * 1024;
const CHUNK_BYTES = 1024 * 1024;
const MAX_COPIES = 1000;

export type Torn = {
  readonly files: FileLayer;
  readonly file: OpenFile;
  readonly path: string;
  readonly size: number;
  /** Behind the last whole record. */
  readonly end: number;
};

/** Resolves to the name of the copy, once it is on disk. */
export async function keepOriginal({ files, file, path: log, size, end }: Torn): Promise<string> {
  const name = await createWhole(files, damagedCopies(log), async (copy) => {
    await copyBytes({ from: file, to: copy, start: size <= MAX_COPIED_BYTES ? 0 : end, end: size });
    await copy.datasync();
  });
  await files.syncDirectory(path.dirname(log));
  return name;
}

export async function cutBack({ file, end }: Pick<Torn, "file" | "end">): Promise<void> {
  await file.truncate(end);
  await file.datasync();
}

function* damagedCopies(log: string): Generator<string, never> {
  for (let number = 1; number <= MAX_COPIES; number++) yield damagedCopy(log, number);
  throw new Error(`there are ${MAX_COPIES} damaged copies already`);
}

type CopyRange = {
  readonly from: OpenFile;
  readonly to: OpenFile;
  readonly start: number;
  readonly end: number;
};

async function copyBytes({ from, to, start, end }: CopyRange): Promise<void> {
  const buffer = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, end - start));
  const zeros = Buffer.alloc(buffer.length);
  for (let at = start; at < end; ) {
    const part = buffer.subarray(0, Math.min(buffer.length, end - at));
    const filled = await from.read(part, at);
    if (filled === 0) throw new Error("the log became shorter while it was copied");
    const read = part.subarray(0, filled);
    // A crash may leave a hole of any size at the end; the copy gets a hole too, and takes no room.
    if (!read.equals(zeros.subarray(0, filled))) await writeAll(to, read, at - start);
    at += filled;
  }
  await to.truncate(end - start);
}
