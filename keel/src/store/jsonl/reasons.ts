/** Failed calls in words: which fault they become, and what a person reads. */
import { Fault, fault } from "../../kernel/fault.ts";
import { codeOf } from "./files.ts";

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

export function reasonOf(thrown: unknown): string {
  const code = codeOf(thrown);
  if (code && Object.hasOwn(words, code)) return `${words[code]} (${code})`;
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** A fault stays what it is. */
export const unwritable = (path: string, thrown: unknown): Fault =>
  thrown instanceof Fault
    ? thrown
    : fault("log_unwritable", { path, reason: reasonOf(thrown), cause: thrown });

export const unreadable = (path: string, thrown: unknown): Fault =>
  thrown instanceof Fault
    ? thrown
    : fault("log_unreadable", { path, reason: reasonOf(thrown), cause: thrown });
