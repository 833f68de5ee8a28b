/** What one or several edits would do, or why they cannot be done. Used before the permission and again before the write. */
import { asReal, shownText } from "../core/context/enclose.ts";
import type { Json } from "../kernel/json.ts";
import { no, type Refused } from "../kernel/result.ts";
import { shorten } from "../kernel/text.ts";
import type { ToolContext, ToolOutcome } from "../ports/tool.ts";
import type { DiffHunk, Display } from "../protocol/tool.ts";
import { failure } from "./built-in.ts";
import {
  boundedText,
  changeFile,
  type FileRewrite,
  findExisting,
  maxFileBytes,
  previewOf,
} from "./change-file.ts";
import { findOccurrences, lineEnd, lineOf } from "./occurrences.ts";
import { plainForm } from "./text-file.ts";

/** Lines that are named when a text occurs several times. */
const maxLinesNamed = 12;

export type TextReplacement = {
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all: boolean;
};

export type EditRequest = { readonly file_path: string; readonly edits: readonly TextReplacement[] };
type Edit = Omit<FileRewrite, "said" | "shows" | "data"> & { readonly places: number };
type EditPlan = { readonly ok: true; readonly edit: Edit } | Refused;
type Applied = { readonly ok: true; readonly text: string; readonly places: number } | Refused;

/** What programs are told of every edit. */
type EditData = {
  filePath: string;
  originalFile: string | null;
  structuredPatch: DiffHunk[];
  userModified: boolean;
};

/** Carries all of them out, or none. */
export async function makeEdits(
  request: EditRequest,
  context: ToolContext,
  { signal, data }: { signal: AbortSignal; data: (common: EditData) => Json },
): Promise<ToolOutcome> {
  const plan = await planEdits(request, context);
  if (!plan.ok) return failure(plan.why);
  const { path: filePath, before = "", places, stamp } = plan.edit;
  const originalFile = boundedText(before);
  const edited = `Edited ${filePath}${places > 1 ? ` in ${places} places` : ""}`;
  const change: FileRewrite = {
    ...plan.edit,
    said: stamp === null ? `Made ${filePath}` : edited,
    data: (structuredPatch) => data({ filePath, originalFile, structuredPatch, userModified: false }),
  };
  return changeFile(change, context, signal);
}

/** All edits, each on what the ones before it left, or none. */
export async function planEdits({ file_path, edits }: EditRequest, context: ToolContext): Promise<EditPlan> {
  const found = await findExisting(file_path, context, "edit");
  if (!found.ok) return found;
  const { path, stamp, file } = found.existing;
  const isMissing = stamp === null;
  if (!isMissing && !file) return no(`${file_path} is not text. Change it with a program, through Bash.`);
  if (file && !file.isExact)
    return no(
      `${file_path} is not valid UTF-8, so an edit would damage it. Change it with a program, through Bash.`,
    );
  let text = file?.text ?? "";
  let places = 0;
  for (const [at, edit] of edits.entries()) {
    const applied = applyEdit(edit, { file_path, text, isNew: isMissing && at === 0 });
    if (!applied.ok) return no(edits.length === 1 ? applied.why : `${ordinal(at, edits)} ${applied.why}`);
    text = applied.text;
    places += applied.places;
  }
  if (text.length > maxFileBytes)
    return no(`${file_path} would become too large: ${text.length} characters.`);
  const form = file ?? plainForm;
  return { ok: true, edit: { path, before: file?.text, after: text, places, form, stamp } };
}

export async function previewEdits(request: EditRequest, context: ToolContext): Promise<Display | undefined> {
  const plan = await planEdits(request, context);
  return plan.ok ? previewOf(plan.edit) : undefined;
}

const ordinal = (at: number, edits: readonly TextReplacement[]): string =>
  `Edit ${at + 1} of ${edits.length}, and so none of them, was made:`;

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
  const fresh = end === "\r\n" ? new_string.replace(/\r?\n/g, end) : new_string;
  const places = placesOf(text, old_string, { end, fresh });
  if (places.length === 0)
    return no(`old_string does not occur in ${file_path}. ${nearMiss(text, old_string)}`);
  const starts = places.map(({ at }) => at);
  if (places.length > 1 && !replace_all) return no(severalMatches(file_path, text, starts));
  return { ok: true, text: replaceAt(text, places), places: places.length };
}

type Place = { readonly at: number; readonly to: number; readonly fresh: string };

/**
 * Read shows a tag that looks like one of ours with `&lt;`, so that no file speaks in our name: whoever edits by what was
 * shown means the sign that stands there. Where the file itself has `&lt;`, that is meant.
 */
function placesOf(
  text: string,
  wanted: string,
  { end, fresh }: { end: "\n" | "\r\n"; fresh: string },
): Place[] {
  const shown = wanted.includes("&lt;") ? shownText(text) : undefined;
  const { found, places } = findOccurrences(shown?.text ?? text, wanted, end);
  return places.flatMap((start): Place[] => {
    if (!shown) return [{ at: start, to: start + found.length, fresh }];
    const [at, to] = [shown.real(start), shown.real(start + found.length)];
    if (at === undefined || to === undefined) return [];
    return [{ at, to, fresh: to - at === found.length ? fresh : asReal(fresh) }];
  });
}

function replaceAt(text: string, places: readonly Place[]): string {
  const parts: string[] = [];
  let from = 0;
  for (const { at, to, fresh } of places) {
    parts.push(text.slice(from, at), fresh);
    from = to;
  }
  return [...parts, text.slice(from)].join("");
}

function severalMatches(path: string, text: string, places: readonly number[]): string {
  const lines = places.slice(0, maxLinesNamed).map((at) => lineOf(text, at));
  const more = places.length > lines.length ? " and more" : "";
  return `old_string occurs ${places.length} times in ${path}, at lines ${lines.join(", ")}${more}. Add lines around it until it is unique, or set replace_all.`;
}

/** Lines that are looked at, and characters of each: a hint must not cost more than the edit. */
const maxLines = 20_000;
const maxLineCharacters = 200;
/** Lines that are shown, and how alike they must be: below half a place is no hint but noise. */
const maxShown = 12;
const minLikeness = 0.5;

/** Where a text that does not occur comes closest, so that the next try can succeed. Its cost is bounded. */
function nearMiss(text: string, wanted: string): string {
  const wantedLines = splitLines(wanted);
  if (wantedLines.every((line) => /^\s*\d+\t/.test(line)))
    return "It starts with line numbers: they are shown by Read but are not part of the file.";
  const lines = splitLines(text, maxLines);
  const bare = lines.map(withoutBlanks);
  const bareWanted = wantedLines.map(withoutBlanks);
  const sameButBlanks = findIgnoringBlanks(bare, bareWanted);
  if (sameButBlanks !== undefined)
    return show(lines, {
      at: sameButBlanks,
      count: wantedLines.length,
      lead: "Only blanks or indentation differ",
    });
  const closest = findClosest(bare, bareWanted);
  if (closest === undefined) return "Nothing in the file is similar; read it again.";
  return show(lines, { at: closest, count: wantedLines.length, lead: "The closest place is" });
}

const splitLines = (text: string, most?: number): string[] => text.split(/\r?\n/, most);

/** The first place where all lines are the same but for white space. */
function findIgnoringBlanks(bare: readonly string[], wanted: readonly string[]): number | undefined {
  if (wanted.every((line) => line === "")) return undefined;
  const at = bare.findIndex((_, start) => wanted.every((line, offset) => bare[start + offset] === line));
  return at < 0 ? undefined : at;
}

/** Where the most telling wanted line has its likeliest match. */
function findClosest(bare: readonly string[], wanted: readonly string[]): number | undefined {
  const anchor = wanted.reduce(
    (best, line, at) => (line.length > (wanted[best] ?? "").length ? at : best),
    0,
  );
  const pairs = pairsOf(wanted[anchor] ?? "");
  let best = { at: -1, likeness: 0 };
  for (const [at, line] of bare.entries()) {
    const likeness = likenessOf(pairs, line);
    if (likeness > best.likeness) best = { at, likeness };
  }
  return best.likeness < minLikeness ? undefined : Math.max(0, best.at - anchor);
}

function show(
  lines: readonly string[],
  { at, count, lead }: { at: number; count: number; lead: string },
): string {
  const shown = lines.slice(at, at + Math.min(count, maxShown));
  const rows = shown.map((line, index) => `${at + index + 1}\t${shorten(line, maxLineCharacters)}`);
  return `${lead} at ${shown.length === 1 ? `line ${at + 1}` : `lines ${at + 1} to ${at + shown.length}`}:\n${rows.join("\n")}`;
}

const withoutBlanks = (line: string): string => line.slice(0, maxLineCharacters).replace(/\s+/g, "");

/** Neighbouring characters, as one number each. */
const pairAt = (line: string, at: number): number => line.charCodeAt(at) * 65_536 + line.charCodeAt(at + 1);

function pairsOf(line: string): Set<number> {
  return new Set(Array.from({ length: Math.max(0, line.length - 1) }, (_, at) => pairAt(line, at)));
}

/** How many pairs of a line are wanted ones, as a share of both. Makes nothing: it runs for every line of a file. */
function likenessOf(wanted: ReadonlySet<number>, line: string): number {
  if (wanted.size === 0 || line.length < 2) return 0;
  let common = 0;
  for (let at = 0; at + 1 < line.length; at++) if (wanted.has(pairAt(line, at))) common += 1;
  return (2 * Math.min(common, wanted.size)) / (wanted.size + line.length - 1);
}
