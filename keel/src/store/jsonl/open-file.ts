/** Opens a session's log and makes sure that it is a plain file: links, directories and pipes are refused. */
import { fault } from "../../kernel/fault.ts";
import { type FileLayer, isMissing, type OpenFile } from "./files.ts";
import { unreadable } from "./reasons.ts";

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
    throw refusal(path, session, thrown);
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

const refusal = (path: string, session: string, thrown: unknown) =>
  isMissing(thrown) ? fault("session_unknown", { session, cause: thrown }) : unreadable(path, thrown);
