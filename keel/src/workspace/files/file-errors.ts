/** What the system says about a file, as a sentence for the model. By code, never by text. */
import { codeOf } from "../../kernel/fault.ts";
import { own } from "../../kernel/json.ts";

const sentences: Readonly<Record<string, (path: string) => string>> = {
  EACCES: (path) => `Permission denied: ${path}`,
  EPERM: (path) => `The system does not permit this: ${path}`,
  EROFS: (path) => `The file system is read-only: ${path}`,
  ENOSPC: () => "There is no space left on the disk.",
  EDQUOT: () => "The disk quota is used up.",
  ENAMETOOLONG: () => "The path or a name in it is too long.",
  ELOOP: (path) => `${path} is part of a loop of links.`,
  ENOTDIR: (path) => `A part of this path is not a directory: ${path}`,
  EISDIR: (path) => `${path} is a directory, not a file.`,
  ENOENT: (path) => `No such file: ${path}`,
  ENXIO: (path) => `${path} is not a regular file.`,
  EMFILE: () => "Too many files are open; try again.",
  ENFILE: () => "Too many files are open; try again.",
  EIO: (path) => `The disk failed at ${path}`,
  EBUSY: (path) => `${path} is in use; try again.`,
};

export function sayFileError(thrown: unknown, path: string): string {
  const code = codeOf(thrown);
  const sentence = own(sentences, code ?? "");
  return sentence ? sentence(path) : `${path} cannot be used: ${code ?? "unknown error"}.`;
}
