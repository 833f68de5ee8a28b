/** The text file that a change builds on: read in this session, not changed since, and writable as the text it is. */
import type { ToolContext } from "../ports/tool.ts";
import { movedTarget, targetOf } from "./target.ts";
import { decodeText, type TextFile } from "./text-file.ts";

export const maxFileBytes = 16 * 1024 * 1024;

export type Existing =
  | { readonly kind: "missing"; readonly path: string }
  /** `file` is undefined when it is no text. */
  | {
      readonly kind: "file";
      readonly path: string;
      readonly stamp: string;
      readonly file: TextFile | undefined;
    };

type ExistingLookup =
  | { readonly ok: true; readonly existing: Existing }
  | { readonly ok: false; readonly why: string };

export async function findExisting(
  file_path: string,
  context: ToolContext,
  verb: "edit" | "write",
): Promise<ExistingLookup> {
  const target = await targetOf(context, { action: "write", path: file_path });
  if (!target.ok) return target;
  const { path, kind } = target.facts;
  if (kind === "missing") return { ok: true, existing: { kind, path } };
  if (kind === "directory") return no(`${file_path} is a directory, not a file.`);
  if (kind === "other") return no(`${file_path} is not a regular file (a pipe, a device or a socket).`);
  // Nothing of the file is told, not even how near a guess came, unless it was read, and so was allowed to be.
  const seen = context.seen(path);
  if (seen === undefined)
    return no(`${file_path} has not been read in this session. Read it first, then ${verb} it.`);
  const read = await context.workspace.files.read(path, { maxBytes: maxFileBytes });
  if (!read.ok) return no(read.why);
  if (read.file.path !== path) return no(movedTarget(file_path));
  if (read.file.stamp !== seen)
    return no(`${file_path} has changed since it was read. Read it again, then ${verb} it.`);
  return { ok: true, existing: { kind: "file", path, stamp: seen, file: decodeText(read.file.bytes) } };
}

const no = (why: string): { ok: false; why: string } => ({ ok: false, why });
