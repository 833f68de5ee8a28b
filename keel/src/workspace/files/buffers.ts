/**
 * Files as an editor has them: what is open and not saved yet is read as it stands there, and changes go through the
 * editor, which shows them. Where it has nothing to say, and for what is no text, the disk counts.
 */
import { no } from "../../kernel/result.ts";
import type { Files } from "../../ports/workspace.ts";
import { stampOf } from "./stamps.ts";

export type EditorBuffers = {
  /** What the editor has of a file; undefined where it has nothing, or does not answer. Never throws. */
  read?: ((path: string) => Promise<string | undefined>) | undefined;
  /** Whether it took the text. Never throws. */
  write?: ((path: string, text: string) => Promise<boolean>) | undefined;
};

/** More than any editor holds as text. */
const maxBytes = 64 * 1024 * 1024;

export function withBuffers(files: Files, buffers: EditorBuffers): Files {
  const read: Files["read"] = async (path, limits) => {
    const found = await files.read(path, limits);
    if (!found.ok || !buffers.read) return found;
    const saved = textIn(found.file.bytes);
    const text = saved === undefined ? undefined : await buffers.read(found.file.path);
    // Editors keep lines without carriage returns: that alone is no change.
    if (text === undefined || saved === undefined || text === saved || text === plainEnds(saved))
      return found;
    const bytes = new TextEncoder().encode(text);
    if (bytes.length > limits.maxBytes)
      return no(
        `${path} is too large as the editor has it: at most ${limits.maxBytes} bytes are read at once.`,
      );
    return { ok: true, file: { bytes, stamp: stampOf(bytes), path: found.file.path } };
  };
  const write: Files["write"] = async (path, bytes, basis) => {
    const saved = await files.read(path, { maxBytes });
    const now = saved.ok ? await read(path, { maxBytes }) : saved;
    const hasOther = saved.ok && now.ok && saved.file.stamp !== now.file.stamp;
    const isMeant = !hasOther || basis === undefined || basis.stamp === now.file.stamp;
    if (!isMeant) return no(`${path} has changed in the editor since it was read. Read it again.`);
    const basisOnDisk = hasOther && basis ? { stamp: saved.file.stamp } : basis;
    const text = textIn(bytes);
    const isOpen = saved.ok && saved.file.path === path;
    // A file that is not there yet, or is no text, or is elsewhere by now: the disk decides, with all its care.
    if (!buffers.write || text === undefined || !isOpen) return files.write(path, bytes, basisOnDisk);
    if (basisOnDisk && basisOnDisk.stamp !== saved.file.stamp)
      return no(`${path} has changed since it was read. Read it again.`);
    if (!(await buffers.write(path, text))) return files.write(path, bytes, basisOnDisk);
    const after = await read(path, { maxBytes });
    return { ok: true, stamp: after.ok ? after.file.stamp : stampOf(bytes), path };
  };
  return { ...files, read, write };
}

function textIn(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

const plainEnds = (text: string): string => text.replaceAll("\r\n", "\n");
