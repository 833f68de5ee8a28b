/** What an edit would do, or why it cannot be done. Used before the permission and again before the write. */
import type { ToolContext } from "../engine/tools/define.ts";
import { nearMiss } from "./near-miss.ts";
import { findPlaces, lineEnd, lineOf } from "./occurrences.ts";
import { movedTarget, targetOf } from "./target.ts";
import { decodeText, type TextFile } from "./text-file.ts";

const mostFileBytes = 16 * 1024 * 1024;
/** Lines that are named when a text occurs several times. */
const mostLinesNamed = 12;

export type Edit = {
  readonly path: string;
  readonly before: string;
  readonly after: string;
  readonly places: number;
  readonly form: Pick<TextFile, "encoding" | "hasMark">;
  /** The stamp of the file that the edit builds on; null when there must be none. */
  readonly stamp: string | null;
};

type Wish = { file_path: string; old_string: string; new_string: string; replace_all: boolean };
type Plan = { readonly ok: true; readonly edit: Edit } | { readonly ok: false; readonly why: string };

export async function planEdit(wish: Wish, context: ToolContext): Promise<Plan> {
  const { file_path, old_string, new_string } = wish;
  const target = await targetOf(context, { action: "write", path: file_path });
  if (!target.ok) return target;
  if (old_string === new_string)
    return no("old_string and new_string are the same: there is nothing to change.");
  const { path, kind } = target.facts;
  if (kind === "missing") return planNewFile(wish, path);
  if (kind !== "file") return no(`${file_path} is not a file that can be edited.`);
  // Nothing of the file is told, not even how near a guess came, unless it was read, and so was allowed to be.
  const seen = context.seen(path);
  if (seen === undefined)
    return no(`${file_path} has not been read in this session. Read it first, then edit it.`);
  const read = await context.workspace.files.read(path, { mostBytes: mostFileBytes });
  if (!read.ok) return no(read.why);
  if (read.file.path !== path) return no(movedTarget(file_path));
  if (read.file.stamp !== seen)
    return no(`${file_path} has changed since it was read. Read it again, then edit it.`);
  const file = decodeText(read.file.bytes);
  if (!file) return no(`${file_path} is not text. Change it with a program, through Bash.`);
  if (!file.isExact)
    return no(
      `${file_path} is not valid UTF-8, so an edit would damage it. Change it with a program, through Bash.`,
    );
  return planReplacement(wish, { path, stamp: seen, file });
}

function planNewFile({ file_path, old_string, new_string }: Wish, path: string): Plan {
  if (old_string !== "") return no(`No such file: ${file_path}. To make a new file, leave old_string empty.`);
  const form = { encoding: "utf-8", hasMark: false } as const;
  return { ok: true, edit: { path, before: "", after: new_string, places: 1, form, stamp: null } };
}

function planReplacement(
  { file_path, old_string, new_string, replace_all }: Wish,
  { path, stamp, file }: { path: string; stamp: string; file: TextFile },
): Plan {
  const { text } = file;
  const form = { encoding: file.encoding, hasMark: file.hasMark };
  if (old_string === "") {
    if (text !== "")
      return no(`${file_path} exists and is not empty. Give the text to replace as old_string.`);
    return { ok: true, edit: { path, before: "", after: new_string, places: 1, form, stamp } };
  }
  const end = lineEnd(text);
  const { found, places } = findPlaces(text, old_string, end);
  if (places.length === 0)
    return no(`old_string does not occur in ${file_path}. ${nearMiss(text, old_string)}`);
  if (places.length > 1 && !replace_all) return no(severalPlaces(file_path, text, places));
  const fresh = end === "\r\n" ? new_string.replace(/\r?\n/g, end) : new_string;
  const after = replaceAt(text, { places, length: found.length, fresh });
  if (after.length > mostFileBytes)
    return no(`${file_path} would become too large: ${after.length} characters.`);
  return { ok: true, edit: { path, before: text, after, places: places.length, form, stamp } };
}

function replaceAt(
  text: string,
  { places, length, fresh }: { places: readonly number[]; length: number; fresh: string },
): string {
  const parts: string[] = [];
  let from = 0;
  for (const at of places) {
    parts.push(text.slice(from, at), fresh);
    from = at + length;
  }
  return [...parts, text.slice(from)].join("");
}

function severalPlaces(path: string, text: string, places: readonly number[]): string {
  const lines = places.slice(0, mostLinesNamed).map((at) => lineOf(text, at));
  const more = places.length > lines.length ? " and more" : "";
  return `old_string occurs ${places.length} times in ${path}, at lines ${lines.join(", ")}${more}. Add lines around it until it is unique, or set replace_all.`;
}

const no = (why: string): { ok: false; why: string } => ({ ok: false, why });
