/** A change of a text file: what it builds on, and how it is written and told. */
import type { Json } from "../kernel/json.ts";
import { no, type Refused } from "../kernel/result.ts";
import type { FileWatch } from "../ports/diagnostics.ts";
import type { ToolContext, ToolOutcome } from "../ports/tool.ts";
import { text } from "../protocol/message.ts";
import type { DiffHunk, Display } from "../protocol/tool.ts";
import { failure } from "./built-in.ts";
import { boundedHunks, countLines, hunksOf } from "./hunks.ts";
import { movedTarget, targetOf } from "./target.ts";
import { decodeText, encodeText, type TextFile, type TextForm } from "./text-file.ts";

export const maxFileBytes = 16 * 1024 * 1024;
/** A whole text is part of the result for programs, but the log must not grow by a large file per change. */
const maxKeptCharacters = 256 * 1024;

export type Existing = {
  readonly path: string;
  /** Null when there is no file. */
  readonly stamp: string | null;
  /** Undefined when there is no file, or it is no text. */
  readonly file: TextFile | undefined;
};

/** The file that a change builds on: read in this session, and not changed since. */
export async function findExisting(
  file_path: string,
  context: ToolContext,
  verb: "edit" | "write",
): Promise<{ readonly ok: true; readonly existing: Existing } | Refused> {
  const target = await targetOf(context, { action: "write", path: file_path });
  if (!target.ok) return target;
  const { path, kind } = target.facts;
  if (kind === "missing") return { ok: true, existing: { path, stamp: null, file: undefined } };
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
  return { ok: true, existing: { path, stamp: seen, file: decodeText(read.file.bytes) } };
}

export type FileRewrite = {
  readonly path: string;
  /** Undefined for a file that was not there, or held no text. */
  readonly before: string | undefined;
  readonly after: string;
  readonly form: TextForm;
  /** The stamp of the file that the change builds on; null when there must be none. */
  readonly stamp: string | null;
  /** What was done, without the counts. */
  readonly said: string;
  /** What is there now, where the words alone would not tell it. */
  readonly shows?: string;
  readonly data: (hunks: DiffHunk[]) => Json;
};

/** Words for the model, a diff for a screen, counts for the bill; and what it broke, where there is a signal to wait by. */
export async function changeFile(
  change: FileRewrite,
  { workspace }: ToolContext,
  signal?: AbortSignal,
): Promise<ToolOutcome> {
  const { path, before, after, form, stamp, said, shows, data } = change;
  const watch = signal && (await workspace.diagnostics?.watch({ path, before: before ?? null }, signal));
  const written = await workspace.files.write(path, encodeText(after, form), { stamp });
  if (!written.ok) return failure(written.why);
  const formed = signal && (await formedFile({ path, after, form }, workspace, signal));
  const final = formed?.text ?? after;
  const whole = hunksOf(before ?? "", final);
  const { added, removed } = countLines(whole);
  const hunks = boundedHunks(whole);
  const outcome: ToolOutcome = {
    content: [
      text(`${said} (+${added} -${removed} lines).${shows ? `\n\n${shows}` : ""}`),
      ...(formed ? [text(formed.said)] : []),
    ],
    display: { kind: "diff", path, hunks },
    data: data(hunks),
    seen: [{ path, stamp: formed?.stamp ?? written.stamp }],
    linesAdded: added,
    linesRemoved: removed,
  };
  return signal ? withNewErrors(outcome, { watch, path, after: final }, signal) : outcome;
}

/** Lines of what a formatter changed that the model is told; the rest it reads when it needs it. */
const maxFormedLines = 60;

/** What a formatter made of a file that was just written, and what the model is told of it; undefined where nothing is to be told. */
async function formedFile(
  { path, after, form }: Pick<FileRewrite, "path" | "after" | "form">,
  { formatter, files }: ToolContext["workspace"],
  signal: AbortSignal,
): Promise<{ readonly said: string; readonly text?: string; readonly stamp?: string } | undefined> {
  const outcome = await formatter?.format(path, signal);
  if (!outcome) return undefined;
  if (!outcome.ok) return { said: `(Not formatted: \`${outcome.by}\` failed: ${outcome.why})` };
  const read = await files.read(path, { maxBytes: maxFileBytes });
  const file = read.ok ? decodeText(read.file.bytes) : undefined;
  if (!read.ok || !file) return { said: `(\`${outcome.by}\` left no text behind. Read ${path} again.)` };
  if (encodeText(after, form).length === read.file.bytes.length && file.text === after) return undefined;
  const lines = hunksOf(after, file.text).flatMap(({ newStart, newLines, lines: changed }) => [
    `@@ ${newStart},${newLines} @@`,
    ...changed,
  ]);
  const more = lines.length > maxFormedLines ? [`… and ${lines.length - maxFormedLines} more lines.`] : [];
  const said = [`\`${outcome.by}\` then changed:`, ...lines.slice(0, maxFormedLines), ...more].join("\n");
  return { said, text: file.text, stamp: read.file.stamp };
}

/** What a change broke, added to its result, where somebody looks after such files. */
export async function withNewErrors(
  outcome: ToolOutcome,
  { watch, path, after }: { watch: FileWatch | undefined; path: string; after: string },
  signal: AbortSignal,
): Promise<ToolOutcome> {
  if (!watch) return outcome;
  const { errors, omitted, notes } = await watch.newErrors(after, signal);
  const said = [
    ...(errors.length > 0 ? [`New errors in ${path}:`, ...errors] : []),
    ...(omitted > 0 ? [`… and ${omitted} more.`] : []),
    ...notes.map((note) => `(No diagnostics. ${note}.)`),
  ];
  return said.length === 0 ? outcome : { ...outcome, content: [...outcome.content, text(said.join("\n"))] };
}

export const boundedText = (whole: string): string | null =>
  whole.length > maxKeptCharacters ? null : whole;

/** What a change would make of the file, for who is asked about it. */
export const previewOf = ({
  path,
  before,
  after,
}: Pick<FileRewrite, "path" | "before" | "after">): Display => ({
  kind: "diff",
  path,
  hunks: boundedHunks(hunksOf(before ?? "", after)),
});

/** What is wrong with a plan, for a check. */
export const whyNot = (plan: { readonly ok: true } | Refused): string | undefined =>
  plan.ok ? undefined : plan.why;
