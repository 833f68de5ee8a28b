/** Grep: text in files, by a regular expression. */
import * as z from "zod/mini";
import { schemaOf } from "../kernel/schema.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { TextSearchRequest, TextSearchResult } from "../ports/search.ts";
import type { Tool, ToolContext, ToolOutcome } from "../ports/tool.ts";
import { text } from "../protocol/message.ts";
import { failure } from "./failure.ts";
import { type GrepMode, grepReport } from "./grep-report.ts";
import { toolHeads } from "./heads.ts";
import { searchNotes } from "./search-notes.ts";
import { claimedPath, targetOf } from "./target.ts";

const timeoutMs = 20_000;
/** Of raw findings; what the model sees is much less. */
const maxBytes = 16 * 1024 * 1024;
const defaultEntries = 250;
const maxContextLines = 100;
/** What screens and programs are given, since that stands in the log. */
const maxShownCharacters = 30_000;

const count = (words: string) =>
  z.optional(z.int().check(z.gte(0), z.lte(maxContextLines), z.describe(words)));
const flag = (words: string) => z.optional(z.boolean().check(z.describe(words)));

const input = z.object({
  pattern: z
    .string()
    .check(z.describe("A regular expression of ripgrep's kind: escape { } ( ) to find them as they are.")),
  path: z.optional(z.string().check(z.describe("A directory or a file; the working directory if left out."))),
  glob: z.optional(
    z
      .string()
      .check(z.describe('Only files that fit, such as "*.ts" or "src/**/*.{js,ts}"; "!*.md": all others.')),
  ),
  type: z.optional(z.string().check(z.describe("Only files of a type: js, py, rust, md …"))),
  output_mode: z
    ._default(z.enum(["content", "files_with_matches", "count"]), "files_with_matches")
    .check(
      z.describe(
        "Matching lines, paths of files (the newest first), or the number of matching lines per file.",
      ),
    ),
  "-A": count("content: lines after each match."),
  "-B": count("content: lines before each match."),
  "-C": count("content: lines before and after each match."),
  context: count("The same as -C."),
  "-n": flag("content: with line numbers; true if left out."),
  "-i": flag("Upper and lower case are the same."),
  "-o": flag("content: only what matches, not the whole line."),
  multiline: flag("A match may go over several lines, and . matches line ends."),
  head_limit: z.optional(
    z
      .int()
      .check(
        z.gte(0),
        z.describe(`At most so many lines or files; ${defaultEntries} if left out, 0 for all.`),
      ),
  ),
  offset: z.optional(z.int().check(z.gte(0), z.describe("So many lines or files are passed over first."))),
});
type GrepInput = z.infer<typeof input>;

export const grepTool: Tool<GrepInput> = defineTool({
  name: "Grep",
  family: "reads",
  description: `Searches text in files with ripgrep. Use it rather than grep or rg in Bash. Hidden files are searched; binary files, links, .git and what ignore files name are not, unless path leads there.`,
  input: schemaOf(input, toolHeads.Grep.input),
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
  run: async function* (given, context, signal): AsyncGenerator<never, ToolOutcome> {
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

const searchModes: Readonly<Record<GrepMode, TextSearchRequest["mode"]>> = {
  content: "lines",
  files_with_matches: "files",
  count: "counts",
};

function report(
  given: GrepInput,
  found: TextSearchResult & { ok: true },
  { workspace }: ToolContext,
): ToolOutcome {
  const { output_mode: mode, head_limit = defaultEntries, offset = 0 } = given;
  const limit = head_limit === 0 ? Number.POSITIVE_INFINITY : head_limit;
  const withNumbers = given["-n"] ?? true;
  const told = grepReport(found.files, { mode, offset, limit, withNumbers, cwd: workspace.cwd });
  const notes = [...told.notes, ...searchNotes({ ...found, timeoutMs })];
  const words = told.total === 0 ? [nothing] : told.text === "" ? [] : [told.text];
  const shown = told.text.slice(0, maxShownCharacters);
  const isCut = told.notes.length > 0 || found.end !== "complete";
  return {
    content: [text([...words, ...notes.map((note) => `(${note})`)].join("\n\n"))],
    display:
      mode === "files_with_matches"
        ? { kind: "files", paths: told.filenames, truncated: isCut }
        : { kind: "text", text: told.total === 0 ? nothing : shown },
    data: {
      mode,
      // Only where files are what was asked for does the list say more than the text.
      numFiles: mode === "content" ? 0 : told.filenames.length,
      filenames: mode === "files_with_matches" ? told.filenames : [],
      ...(mode === "content" ? { content: shown, numLines: told.shown } : {}),
      ...(mode === "count" ? { content: shown, numMatches: told.matches } : {}),
      ...(told.shown < told.total - offset ? { appliedLimit: head_limit } : {}),
      ...(offset > 0 ? { appliedOffset: offset } : {}),
      countIsComplete: found.end === "complete",
    },
  };
}

const nothing = "No matches found. (Binary files, links and files that ignore files name were not searched.)";
