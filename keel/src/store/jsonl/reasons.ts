/** Failed calls in words: which fault they become, and what a person reads. */
import { codeOf, Fault, fault, reasonOf } from "../../kernel/fault.ts";
import { type FileLayer, isMissing, type OpenFile } from "./files.ts";

const words: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the quota is used up",
  EROFS: "the file system is read-only",
  EACCES: "no permission",
  EPERM: "no permission",
  EIO: "the disk reports an error",
  EMFILE: "too many files are open",
  ENFILE: "too many files are open",
  ELOOP: "it is a link, not a file",
  EMLINK: "it is a link, not a file",
  EISDIR: "it is a directory, not a file",
  ENOTDIR: "a part of its path is not a directory",
  ENXIO: "it is not a plain file",
};

export const unwritable = (path: string, thrown: unknown): Fault => asFault("log_unwritable", path, thrown);
export const unreadable = (path: string, thrown: unknown): Fault => asFault("log_unreadable", path, thrown);

/** A fault stays what it is. */
function asFault(as: "log_unwritable" | "log_unreadable", path: string, thrown: unknown): Fault {
  if (thrown instanceof Fault) return thrown;
  const code = codeOf(thrown);
  const reason = code && Object.hasOwn(words, code) ? `${words[code]} (${code})` : reasonOf(thrown);
  return fault(as, { path, reason, cause: thrown });
}

/** A session's log that is surely a plain file: links, directories and pipes are refused. */
export type OpenedLog = { readonly file: OpenFile; readonly how: "read" | "write" };

/** For writing if that is possible, else for reading. Throws `session_unknown` or `log_unreadable`. */
export async function openLogFile(files: FileLayer, path: string, session: string): Promise<OpenedLog> {
  try {
    return { file: await openPlain(files, path, "write"), how: "write" };
  } catch {
    // Whether it can at least be read decides what is told: the next line throws if not.
  }
  return { file: await openForReading(files, path, session), how: "read" };
}

export async function openForReading(files: FileLayer, path: string, session: string): Promise<OpenFile> {
  try {
    return await openPlain(files, path, "read");
  } catch (thrown) {
    throw isMissing(thrown) ? fault("session_unknown", { session, cause: thrown }) : unreadable(path, thrown);
  }
}

async function openPlain(files: FileLayer, path: string, how: "read" | "write"): Promise<OpenFile> {
  const file = await files.open(path, how);
  const { kind } = await file.facts();
  if (kind === "file") return file;
  await file.close();
  throw fault("log_unreadable", {
    path,
    reason: `it is ${kind === "directory" ? "a directory" : "not a plain file"}`,
  });
}
