/** Grep: text in files, by a regular expression. */
import * as z from "zod/mini";
import type { LineMatch, TextMatch, TextSearchRequest, TextSearchResult } from "../ports/search.ts";
import type { ToolContext, ToolOutcome } from "../ports/tool.ts";
import { text } from "../protocol/message.ts";
import { builtInTool, failure, flagField, numberField, textField } from "./built-in.ts";
import { searchNotes, shownPath } from "./search-notes.ts";
import { claimedPath, targetOf } from "./target.ts";

const timeoutMs = 20_000;
/** Of raw findings; what the model sees is much less. */
const maxBytes = 16 * 1024 * 1024;
const defaultEntries = 250;
const maxContextLines = 100;
/** What screens and programs are given, since that stands in the log. */
const maxShownCharacters = 30_000;

const count = (says: string) => numberField(says, z.gte(0), z.lte(maxContextLines));

const input = z.object({
  pattern: textField("Regular expression (ripgrep syntax); escape literal { } ( )."),
  path: z.optional(textField("File or directory; default is the working directory.")),
  glob: z.optional(textField('Only matching files, such as "*.ts" or "src/**/*.{js,ts}"; "!*.md" excludes.')),
  type: z.optional(textField("Only files of this type: js, py, rust, md …")),
  output_mode: z
    ._default(z.enum(["content", "files_with_matches", "count"]), "files_with_matches")
    .check(z.describe("Matching lines, file paths (newest first), or match counts per file.")),
  "-A": count("content: lines after each match."),
  "-B": count("content: lines before each match."),
  "-C": count("content: lines before and after each match."),
  context: count("Same as -C."),
  "-n": flagField("content: line numbers; default true."),
  "-i": flagField("Ignore case."),
  "-o": flagField("content: only the matching part of a line."),
  multiline: flagField("Let patterns span lines, with . matching newlines."),
  head_limit: numberField(`Maximum lines or files; default ${defaultEntries}, 0 for all.`, z.gte(0)),
  offset: numberField("Skip this many lines or files.", z.gte(0)),
});
type GrepInput = z.infer<typeof input>;

export const grepTool = builtInTool({
  name: "Grep",
  family: "reads",
  description: `Searches file contents with ripgrep. Use it instead of grep or rg in Bash. Includes hidden files; skips binary files, symlinks, .git and ignored files unless path points there.`,
  input,
  traits: { readOnly: true, concurrent: true, replay: "safe" },
  claims: async ({ path = "." }, context) => [{ action: "read", target: await claimedPath(context, path) }],
  check: async ({ pattern, path = "." }, context) => {
    if (pattern === "") return "The pattern is empty: it would match every line.";
    if (pattern.includes("\0")) return "The pattern holds a NUL byte.";
    const facts = await context.workspace.files.describe(path);
    if (facts.problem !== undefined) return facts.problem;
    if (facts.kind === "other") return `${path} is not a regular file (a pipe, a device or a socket).`;
    // Of what lies outside nothing is told before somebody has allowed it.
    return facts.kind === "missing" && facts.root !== undefined ? missing(path) : undefined;
  },
  run: async function* (given, context, signal) {
    const { path = "." } = given;
    const target = await targetOf(context, { action: "read", path });
    if (!target.ok) return failure(target.why);
    if (target.facts.kind === "missing") return failure(missing(path));
    const found = await context.workspace.search.text(searchRequestOf(given, target.facts.path), signal);
    if (!found.ok) return failure(found.why);
    const files = found.files.filter((file) => !context.isDenied?.(file.path));
    return report(given, { ...found, files }, context);
  },
});

const missing = (path: string): string => `No such file or directory: ${path}. Find it with Glob first.`;

function searchRequestOf(given: GrepInput, target: string): TextSearchRequest {
  const around = given["-C"] ?? given.context ?? 0;
  return {
    target,
    pattern: given.pattern,
    mode: searchModes[given.output_mode],
    before: given["-B"] ?? around,
    after: given["-A"] ?? around,
    letterCase: given["-i"] ? "any" : "exact",
    lines: given.multiline ? "across" : "each",
    show: given["-o"] ? "match" : "line",
    glob: given.glob,
    type: given.type,
    timeoutMs,
    maxBytes,
  };
}

const searchModes: Readonly<Record<GrepInput["output_mode"], TextSearchRequest["mode"]>> = {
  content: "lines",
  files_with_matches: "files",
  count: "counts",
};

/** What was found, cut to the window that was asked for. */
function report(
  given: GrepInput,
  found: TextSearchResult & { ok: true },
  { workspace }: ToolContext,
): ToolOutcome {
  const { output_mode: mode, head_limit = defaultEntries, offset = 0 } = given;
  const entries = entriesOf(given, found.files, workspace.cwd);
  const inWindow = entries.slice(offset, head_limit === 0 ? undefined : offset + head_limit);
  const lines = inWindow.map((entry) => entry.text).join("\n");
  const filenames = [...new Set(inWindow.map(({ file }) => file))];
  const cut = windowNotes({ total: entries.length, shown: inWindow.length, offset }, mode);
  const words = entries.length === 0 ? [nothing] : lines === "" ? [] : [lines];
  const notes = [...cut, ...searchNotes({ ...found, timeoutMs })].map((note) => `(${note})`);
  const content = lines.slice(0, maxShownCharacters);
  const truncated = cut.length > 0 || found.end !== "complete";
  const numMatches = found.files.reduce((sum, { matches }) => sum + matches, 0);
  return {
    content: [text([...words, ...notes].join("\n\n"))],
    display:
      mode === "files_with_matches"
        ? { kind: "files", paths: filenames, truncated }
        : { kind: "text", text: entries.length === 0 ? nothing : content },
    data: {
      mode,
      // Only where files are what was asked for does the list say more than the text.
      numFiles: mode === "content" ? 0 : filenames.length,
      filenames: mode === "files_with_matches" ? filenames : [],
      ...(mode === "content" ? { content, numLines: inWindow.length } : {}),
      ...(mode === "count" ? { content, numMatches } : {}),
      ...(inWindow.length < entries.length - offset ? { appliedLimit: head_limit } : {}),
      ...(offset > 0 ? { appliedOffset: offset } : {}),
      countIsComplete: found.end === "complete",
    },
  };
}

const nothing = "No matches found. (Binary files, links and files that ignore files name were not searched.)";

type GrepEntry = { readonly file: string; readonly text: string };

function entriesOf(
  { output_mode, "-n": withNumbers = true }: GrepInput,
  files: readonly TextMatch[],
  cwd: string,
): GrepEntry[] {
  const named = files.map((match) => ({ ...match, file: shownPath(cwd, match.path) }));
  switch (output_mode) {
    case "files_with_matches":
      return named.sort(newestFirst).map(({ file }) => ({ file, text: file }));
    case "count":
      return named.map(({ file, matches }) => ({ file, text: `${file}:${matches}` }));
    case "content":
      return named.flatMap(({ file, lines }) => linesOf(file, lines, withNumbers ? "numbered" : "bare"));
  }
}

const newestFirst = (left: TextMatch, right: TextMatch): number =>
  right.modifiedMs - left.modifiedMs || (left.path < right.path ? -1 : 1);

/** As search programs write them: `path:12:text` for a match, `path-13-text` for a line beside one. */
const linesOf = (file: string, lines: readonly LineMatch[], form: "numbered" | "bare"): GrepEntry[] =>
  lines.map(({ number, text, isMatch }, at) => {
    const sign = isMatch ? ":" : "-";
    const before = lines[at - 1];
    const isGap = before !== undefined && !(before.isMatch && isMatch) && number > before.number + 1;
    const line = `${file}${sign}${form === "numbered" ? `${number}${sign}` : ""}${text}`;
    return { file, text: isGap ? `--\n${line}` : line };
  });

function windowNotes(
  { total, shown, offset }: { total: number; shown: number; offset: number },
  mode: GrepInput["output_mode"],
): string[] {
  if (shown === total) return [];
  const what = mode === "content" ? "lines" : "files";
  if (shown === 0) return [`There are only ${total} ${what}; offset ${offset} is past their end.`];
  const last = offset + shown;
  const next = last < total ? ` Go on with offset ${last}.` : "";
  return [`${what === "lines" ? "Lines" : "Files"} ${offset + 1} to ${last} of ${total}.${next}`];
}
