/** What one or several edits would do, or why they cannot be done. Used before the permission and again before the write. */
import type { ToolContext } from "../ports/tool.ts";
import { type Existing, findExisting, maxFileBytes } from "./existing-text.ts";
import { nearMiss } from "./near-miss.ts";
import { findOccurrences, lineEnd, lineOf } from "./occurrences.ts";
import type { TextFile } from "./text-file.ts";

/** Lines that are named when a text occurs several times. */
const maxLinesNamed = 12;

export type TextReplacement = {
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all: boolean;
};

export type Edit = {
  readonly path: string;
  readonly before: string;
  readonly after: string;
  readonly places: number;
  readonly form: Pick<TextFile, "encoding" | "hasMark">;
  /** The stamp of the file that the edit builds on; null when there must be none. */
  readonly stamp: string | null;
};

type EditRequest = { readonly file_path: string; readonly edits: readonly TextReplacement[] };
type EditPlan = { readonly ok: true; readonly edit: Edit } | { readonly ok: false; readonly why: string };
type Applied =
  | { readonly ok: true; readonly text: string; readonly places: number }
  | { readonly ok: false; readonly why: string };

/** All edits, each on what the ones before it left, or none. */
export async function planEdits({ file_path, edits }: EditRequest, context: ToolContext): Promise<EditPlan> {
  const found = await findExisting(file_path, context, "edit");
  if (!found.ok) return found;
  const start = startOf(found.existing, file_path);
  if (!start.ok) return start;
  const { existing } = found;
  let { text } = start;
  let places = 0;
  for (const [at, edit] of edits.entries()) {
    const isNew = existing.kind === "missing" && at === 0;
    const applied = applyEdit(edit, { file_path, text, isNew });
    if (!applied.ok) return no(edits.length === 1 ? applied.why : `${ordinal(at, edits)} ${applied.why}`);
    text = applied.text;
    places += applied.places;
  }
  if (text.length > maxFileBytes)
    return no(`${file_path} would become too large: ${text.length} characters.`);
  const stamp = existing.kind === "missing" ? null : existing.stamp;
  return {
    ok: true,
    edit: { path: existing.path, before: start.text, after: text, places, form: start.form, stamp },
  };
}

const ordinal = (at: number, edits: readonly TextReplacement[]): string =>
  `Edit ${at + 1} of ${edits.length}, and so none of them, was made:`;

function startOf(
  existing: Existing,
  file_path: string,
): { ok: true; text: string; form: Edit["form"] } | { ok: false; why: string } {
  if (existing.kind === "missing") return { ok: true, text: "", form: { encoding: "utf-8", hasMark: false } };
  const { file } = existing;
  if (!file) return no(`${file_path} is not text. Change it with a program, through Bash.`);
  if (!file.isExact)
    return no(
      `${file_path} is not valid UTF-8, so an edit would damage it. Change it with a program, through Bash.`,
    );
  return { ok: true, text: file.text, form: { encoding: file.encoding, hasMark: file.hasMark } };
}

function applyEdit(
  { old_string, new_string, replace_all }: TextReplacement,
  { file_path, text, isNew }: { file_path: string; text: string; isNew: boolean },
): Applied {
  if (old_string === new_string)
    return no("old_string and new_string are the same: there is nothing to change.");
  if (!new_string.isWellFormed())
    return no("new_string is not valid text: it holds half of a surrogate pair.");
  if (old_string === "") {
    if (text !== "")
      return no(`${file_path} exists and is not empty. Give the text to replace as old_string.`);
    return { ok: true, text: new_string, places: 1 };
  }
  if (isNew) return no(`No such file: ${file_path}. To make a new file, leave old_string empty.`);
  const end = lineEnd(text);
  const { found, places } = findOccurrences(text, old_string, end);
  if (places.length === 0)
    return no(`old_string does not occur in ${file_path}. ${nearMiss(text, old_string)}`);
  if (places.length > 1 && !replace_all) return no(severalMatches(file_path, text, places));
  const fresh = end === "\r\n" ? new_string.replace(/\r?\n/g, end) : new_string;
  return {
    ok: true,
    text: replaceAt(text, { places, length: found.length, fresh }),
    places: places.length,
  };
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

function severalMatches(path: string, text: string, places: readonly number[]): string {
  const lines = places.slice(0, maxLinesNamed).map((at) => lineOf(text, at));
  const more = places.length > lines.length ? " and more" : "";
  return `old_string occurs ${places.length} times in ${path}, at lines ${lines.join(", ")}${more}. Add lines around it until it is unique, or set replace_all.`;
}

const no = (why: string): { ok: false; why: string } => ({ ok: false, why });
