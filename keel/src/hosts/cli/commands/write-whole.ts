/** Writes a file that is there whole or not at all: beside its place first, then under its name. */
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import path from "node:path";
import { usage } from "../arguments.ts";

/** A session may hold anything that its person has seen: the file is for them alone. */
const PRIVATE = 0o600;

/** Throws `usage` when the place cannot be written, and whatever the parts throw; nothing is then left behind. */
export async function writeWhole(
  given: string,
  parts: AsyncIterable<string | Uint8Array>,
  cwd: string,
): Promise<void> {
  const file = path.resolve(cwd, given);
  const draft = `${file}.keel-${process.pid}`;
  const handle = await open(draft, "wx", PRIVATE).catch(cannotWrite(file));
  try {
    await fill(handle, parts);
    await rename(draft, file).catch(cannotWrite(file));
  } catch (thrown) {
    await rm(draft, { force: true });
    throw thrown;
  }
}

async function fill(handle: FileHandle, parts: AsyncIterable<string | Uint8Array>): Promise<void> {
  try {
    for await (const part of parts) await handle.writeFile(part);
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

const cannotWrite =
  (file: string) =>
  (thrown: unknown): never => {
    const why = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "unknown error";
    throw usage(`${file} cannot be written (${why}).`);
  };
