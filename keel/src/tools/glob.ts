/** Glob: files by a pattern, newest first. */
import path from "node:path";
import * as z from "zod/mini";
import { type Glob, parseGlob } from "../kernel/glob.ts";
import { failed, type Result } from "../kernel/result.ts";
import type { ToolContext, ToolOutcome } from "../ports/tool.ts";
import type { PathFacts } from "../ports/workspace.ts";
import { text } from "../protocol/message.ts";
import { builtInTool, failure, textField } from "./built-in.ts";
import { searchNotes, shownPath } from "./search-notes.ts";
import { claimedPath, targetOf } from "./target.ts";

/** Paths that are returned: who needs more is better served by a narrower pattern. */
const maxPaths = 100;
const timeoutMs = 20_000;

const input = z.object({
  pattern: textField("Such as **/*.ts, src/*.{js,ts} or docs/**/index.md."),
  path: z.optional(textField("Directory to search; default is the working directory.")),
});
type GlobInput = z.infer<typeof input>;

export const globTool = builtInTool({
  name: "Glob",
  family: "reads",
  description: `Finds files by glob pattern: *, ?, ** and {a,b}. Only ** descends into subdirectories. Returns up to ${maxPaths} paths, newest first. Includes hidden files; skips symlinks, .git and ignored files unless path or the start of the pattern points there.`,
  input,
  traits: { readOnly: true, concurrent: true, replay: "safe" },
  claims: async (given, context) => [
    { action: "read", target: await claimedPath(context, directoryOf(given)) },
  ],
  check: async (given, context) => {
    const glob = readPattern(given.pattern);
    if (!glob.ok) return glob.error;
    const directory = directoryOf(given);
    const facts = await context.workspace.files.describe(directory);
    // Of what lies outside nothing is told before somebody has allowed it.
    return facts.problem ?? (facts.root === undefined ? undefined : whyNoDirectory(directory, facts));
  },
  run: async function* (given, context, signal) {
    return await findByPattern(given, context, { signal, maxPaths });
  },
});

export async function findByPattern(
  given: GlobInput,
  context: ToolContext,
  bounds: { readonly signal: AbortSignal; readonly maxPaths: number },
): Promise<ToolOutcome> {
  const glob = readPattern(given.pattern);
  if (!glob.ok) return failure(glob.error);
  const directory = directoryOf(given);
  const target = await targetOf(context, { action: "read", path: directory });
  if (!target.ok) return failure(target.why);
  const why = whyNoDirectory(directory, target.facts);
  if (why !== undefined) return failure(why);
  return await find({ glob: glob.value, directory: target.facts.path }, context, bounds);
}

/** What cannot be meant is said: nothing found would look like an empty folder. */
function readPattern(pattern: string): Result<Glob, string> {
  if (pattern.includes("\0")) return failed("The pattern holds a NUL, which no name has.");
  const open = openSign(pattern);
  if (open !== undefined)
    return failed(
      `The pattern has a ${open} that is not closed. Close it, or write \\${open} for the sign itself.`,
    );
  return parseGlob(pattern);
}

const closing: Readonly<Record<string, string>> = { "[": "]", "{": "}" };

/** The first bracket or brace without its end; a bracket ends within its name. */
function openSign(pattern: string): string | undefined {
  for (let at = 0; at < pattern.length; at++) {
    const sign = pattern[at] ?? "";
    const end = closing[sign];
    if (sign === "\\") at += 1;
    if (end === undefined) continue;
    const rest = sign === "[" ? (pattern.slice(at + 1).split("/")[0] ?? "") : pattern.slice(at + 1);
    if (!rest.includes(end)) return sign;
  }
  return undefined;
}

/** Where the walk starts: the pattern's leading names without wildcards are part of it. */
function directoryOf({ pattern, path: from }: GlobInput): string {
  const glob = parseGlob(pattern);
  const base = glob.ok ? glob.value.base : "";
  if (base === "") return from ?? ".";
  return path.isAbsolute(base) || from === undefined ? base : `${from}/${base}`;
}

function whyNoDirectory(given: string, { kind }: PathFacts): string | undefined {
  if (kind === "directory") return undefined;
  if (kind === "missing") return `No such directory: ${given}. Look at the one above it first.`;
  return `${given} is not a directory. To see a file use Read.`;
}

async function find(
  { glob, directory }: { glob: Glob; directory: string },
  { workspace, clock, isDenied = () => false }: ToolContext,
  { signal, maxPaths: most }: { readonly signal: AbortSignal; readonly maxPaths: number },
): Promise<ToolOutcome> {
  const startedAt = clock.monotonicMs();
  const found = await workspace.search.files({ directory, rests: glob.rests, timeoutMs }, signal);
  if (!found.ok) return failure(found.why);
  const { end, problems } = found;
  const paths = found.paths.filter((file) => !isDenied(file));
  const shown = paths.slice(0, most).map((file) => shownPath(workspace.cwd, file));
  const truncated = paths.length > shown.length || end !== "complete";
  const notes = [
    ...(paths.length > shown.length
      ? [`The newest ${shown.length} of ${paths.length} files. Narrow the pattern or the path to see others.`]
      : []),
    ...searchNotes({ end, problems, timeoutMs }),
  ];
  const words = shown.length === 0 ? [nothing] : [shown.join("\n")];
  return {
    content: [text([...words, ...notes.map((note) => `(${note})`)].join("\n\n"))],
    display: { kind: "files", paths: shown, truncated },
    data: {
      durationMs: Math.round(clock.monotonicMs() - startedAt),
      numFiles: shown.length,
      filenames: shown,
      truncated,
      totalMatches: paths.length,
      countIsComplete: end === "complete",
      ...(end === "time" ? { timedOut: true } : {}),
    },
  };
}

const nothing = "No files found. (Links and files that ignore files name were not looked at.)";
