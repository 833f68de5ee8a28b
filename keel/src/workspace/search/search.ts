/**
 * Search in real files, by ripgrep. It runs inside the directory that was opened and looked at, so that it does not
 * matter what that directory's name comes to mean; a single file is handed over opened.
 */

import { lstatSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { setImmediate as breathe } from "node:timers/promises";
import { codeOf } from "../../kernel/fault.ts";
import { globDepth, globMatcher } from "../../kernel/glob.ts";
import { no } from "../../kernel/result.ts";
import type {
  FileMatch,
  FileSearchResult,
  LineMatch,
  Search,
  TextSearchRequest,
  TextSearchResult,
} from "../../ports/search.ts";
import { sayFileError } from "../files/file-errors.ts";
import { isKernelText, openDirectory, openFile, realPathOf } from "../files/opened.ts";
import { findSearchProgram, runSearch, type SearchProgram, type SearchRan } from "./search-program.ts";

/** Names of a tree: a hundred bytes each, a hundred thousand files and more. */
const maxNameBytes = 64 * 1024 * 1024;
/** Alternatives of a glob that the search program is told of. */
const maxNamesToNarrow = 50;
/** Files whose time is asked for before others get their turn: some two milliseconds. */
const statsAtOnce = 500;
/** What versions are kept in is no part of a project's text. */
const repositories = [".git", ".hg", ".svn", ".jj"];

export function nodeSearch({ env }: { env: Parameters<typeof findSearchProgram>[0] }): Search {
  let finding: Promise<SearchProgram | undefined> | undefined;
  const program = async (): Promise<string | undefined> => {
    finding ??= findSearchProgram(env);
    return (await finding)?.file;
  };
  return {
    async files(request, signal) {
      const rg = await program();
      return rg === undefined ? no(absent) : findFiles(rg, request, signal);
    },
    async text(request, signal) {
      const rg = await program();
      return rg === undefined ? no(absent) : findText(rg, request, signal);
    },
  };
}

const absent = "No search program was found: install ripgrep (rg), or search with Bash (find, grep).";

async function findFiles(
  program: string,
  { directory, rests, timeoutMs }: Parameters<Search["files"]>[0],
  signal: AbortSignal,
): Promise<FileSearchResult> {
  const opened = await openTarget(directory, "directory");
  if (!opened.ok) return no(opened.why);
  await using at = opened.handle;
  const depth = globDepth(rests);
  const words = [
    ...commonWords,
    // It asks for the times itself, in a third of the time that we would need.
    "--files",
    "--null",
    "--sortr=modified",
    ...(depth === undefined ? [] : [`--max-depth=${depth}`]),
    ...lastNames(rests),
    "./",
  ];
  const fits = globMatcher(rests);
  const paths: string[] = [];
  const reader = nameReader((name) => {
    if (fits(name)) paths.push(below(directory, name));
  });
  const limits = { timeoutMs, maxBytes: maxNameBytes };
  const place = { program, words, at, kind: "directory", directory, ...limits } as const;
  const ran = await runSearch(place, reader.push, signal);
  return ran.ok ? { ...ran, paths } : ran;
}

/**
 * Only files whose last name fits, so that fewer names have to be sent and looked at. As a type of file and not as a
 * glob of the program: such a glob would bring back what ignore files leave out.
 */
function lastNames(rests: readonly string[]): string[] {
  const names = new Set(rests.map((rest) => rest.slice(rest.lastIndexOf("/") + 1)));
  const areSimple = [...names].every((name) => /^[\w.*?-]+$/.test(name) && !/^\*+$/.test(name));
  if (!areSimple || names.size > maxNamesToNarrow) return [];
  return [...[...names].map((name) => `--type-add=keel:${name}`), "--type=keel"];
}

async function findText(
  program: string,
  request: TextSearchRequest,
  signal: AbortSignal,
): Promise<TextSearchResult> {
  const directory = await openTarget(request.target, "directory");
  if (directory.ok) {
    await using at = directory.handle;
    return await searchIn({ program, wish: request, at, kind: "directory" }, signal);
  }
  if (!directory.isOther) return no(directory.why);
  const file = await openTarget(request.target, "file");
  if (!file.ok) return no(file.why);
  await using at = file.handle;
  return await searchIn({ program, wish: request, at, kind: "file" }, signal);
}

type SearchContext = {
  readonly program: string;
  readonly wish: TextSearchRequest;
  readonly at: FileHandle;
  readonly kind: "directory" | "file";
};

async function searchIn(
  { program, wish, at, kind }: SearchContext,
  signal: AbortSignal,
): Promise<TextSearchResult> {
  const { target, mode, timeoutMs, maxBytes } = wish;
  const names: string[] = [];
  const reader =
    mode === "files"
      ? { ...nameReader((name) => names.push(name)), files: new Map<string, never>(), rest: () => "" }
      : lineReader(mode);
  const words = [...commonWords, ...wordsOf(wish), kind === "directory" ? "./" : "-"];
  const run = { program, words, at, kind, directory: target, timeoutMs, maxBytes } as const;
  const ran: SearchRan = await runSearch(run, reader.push, signal);
  if (!ran.ok) return ran;
  const found = mode === "files" ? names : [...reader.files.keys()];
  const files = await timesOf(target, found.sort(), kind);
  const rest = reader.rest();
  return {
    ...ran,
    problems: rest === "" ? ran.problems : [...ran.problems, rest],
    files: files.map((file, index) => {
      const { matches = 1, lines = [] } = reader.files.get(found[index] ?? "") ?? {};
      return { ...file, matches, lines };
    }),
  };
}

/** No configuration file, no colours, no links; hidden files are files. */
const commonWords = [
  "--no-config",
  "--color=never",
  "--hidden",
  "--no-ignore-global",
  ...repositories.map((name) => `--glob=!${name}`),
];

function wordsOf(request: TextSearchRequest): string[] {
  const { pattern, mode, before, after, letterCase, lines, show, glob, type } = request;
  const how = {
    lines: [
      "--line-number",
      "--no-heading",
      "--no-context-separator",
      "--max-columns-preview",
      `--max-columns=${maxColumns}`,
      `--before-context=${before}`,
      `--after-context=${after}`,
      `--field-match-separator=${hex(matchMark)}`,
      `--field-context-separator=${hex(contextMark)}`,
      ...(show === "match" ? ["--only-matching"] : []),
    ],
    files: ["--files-with-matches"],
    counts: ["--count"],
  }[mode];
  return [
    "--null",
    "--with-filename",
    ...how,
    ...(letterCase === "any" ? ["--ignore-case"] : ["--case-sensitive"]),
    ...(lines === "across" ? ["--multiline", "--multiline-dotall"] : []),
    // A glob that fits everything would bring back what ignore files leave out.
    ...(glob === undefined || /^(\*\*\/)*\*\*?$/.test(glob) ? [] : [`--glob=${glob}`]),
    ...(type === undefined ? [] : [`--type=${type}`]),
    `--regexp=${pattern}`,
    "--",
  ];
}

const hex = (mark: string): string => `\\x${mark.charCodeAt(0).toString(16).padStart(2, "0")}`;

type OpenedTarget =
  | { readonly ok: true; readonly handle: FileHandle }
  | { readonly ok: false; readonly why: string; readonly isOther: boolean };

/** The object that was decided about, or why it is not there any more. */
async function openTarget(target: string, kind: "directory" | "file"): Promise<OpenedTarget> {
  let handle: FileHandle;
  try {
    handle = await (kind === "directory" ? openDirectory(target) : openFile(target));
  } catch (thrown) {
    return { ...no(sayFileError(thrown, target)), isOther: codeOf(thrown) === "ENOTDIR" };
  }
  const why = await whyNot(handle, { target, kind });
  if (why === undefined) return { ok: true, handle };
  await handle.close();
  return { ...no(why), isOther: false };
}

async function whyNot(
  handle: FileHandle,
  { target, kind }: { target: string; kind: "directory" | "file" },
): Promise<string | undefined> {
  if ((await realPathOf(handle, target)) !== target)
    return `${target} was moved while it was opened. Try again.`;
  if (kind === "directory") return undefined;
  const isPlain = (await handle.stat()).isFile() && !(await isKernelText(handle));
  return isPlain ? undefined : `${target} is not a regular file (a pipe, a device, a socket or /proc).`;
}

/** One question per file, without a promise each: that would take five times as long. */
async function timesOf(
  base: string,
  names: readonly string[],
  kind: SearchContext["kind"],
): Promise<FileMatch[]> {
  const files: FileMatch[] = [];
  for (const [index, name] of names.entries()) {
    const file = kind === "file" ? base : below(base, name);
    files.push({ path: file, modifiedMs: modifiedMs(file) });
    if (index % statsAtOnce === statsAtOnce - 1) await breathe();
  }
  return files;
}

/** The name comes from a walk and has nothing that would have to be resolved. */
const below = (directory: string, name: string): string =>
  directory === "/" ? `/${name}` : `${directory}/${name}`;

function modifiedMs(file: string): number {
  try {
    return lstatSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  } catch {
    return 0; // Its directory was closed or replaced meanwhile: the oldest of all, but found.
  }
}

/** What the search program writes, taken apart while it comes. Bytes in any pieces give the same result. */

/** Between the number of a line and its text: two bytes that no name and hardly a text has. */
const matchMark = "\x01";
const contextMark = "\x02";
/** Characters of a line that are kept: the program cuts there, and says so. */
const maxColumns = 500;

/** Names that end with a NUL byte, as `--files` and `-l` write them. There may be a hundred thousand of them. */
function nameReader(take: (name: string) => void): { push(chunk: Buffer): void } {
  const decoder = new TextDecoder();
  let open = "";
  return {
    push(chunk) {
      const names = (open + decoder.decode(chunk, { stream: true })).split("\0");
      // What has no end yet is cut off, or goes on in the next piece.
      open = names.pop() ?? "";
      for (const name of names) take(relative(name));
    },
  };
}

const lineFeed = 10;

type FileLines = { matches: number; readonly lines: LineMatch[] };

/** `name NUL number mark text LF`, or `name NUL count LF`. */
function lineReader(mode: "lines" | "counts"): {
  push(chunk: Buffer): void;
  readonly files: ReadonlyMap<string, FileLines>;
  /** What was said of no file: that a text is not text, for example. */
  rest(): string;
} {
  const files = new Map<string, FileLines>();
  // A name may hold a line feed: what comes before the NUL byte belongs together.
  let open = "";
  const take = (piece: Buffer): void => {
    const line = open + piece.toString("utf8");
    const cut = line.indexOf("\0");
    if (cut < 0) {
      open = `${line}\n`;
      return;
    }
    open = "";
    const name = relative(line.slice(0, cut));
    const file = files.get(name) ?? { matches: 0, lines: [] };
    files.set(name, file);
    if (mode === "counts") file.matches += Number(line.slice(cut + 1));
    else addLine(file, line.slice(cut + 1));
  };
  // A rest without an end is dropped, since it was cut off.
  let waiting: Buffer[] = [];
  const push = (chunk: Buffer): void => {
    let from = 0;
    for (let at = chunk.indexOf(lineFeed); at >= 0; at = chunk.indexOf(lineFeed, from)) {
      const piece = chunk.subarray(from, at);
      take(waiting.length === 0 ? piece : Buffer.concat([...waiting, piece]));
      waiting = [];
      from = at + 1;
    }
    if (from < chunk.length) waiting.push(chunk.subarray(from));
  };
  return { push, files, rest: () => relative(open.trim()) };
}

function addLine(file: FileLines, rest: string): void {
  const digits = /^\d+/.exec(rest)?.[0] ?? "";
  const isMatch = rest[digits.length] === matchMark;
  if (isMatch) file.matches += 1;
  const text = rest.slice(digits.length + 1).replace(/\r$/, "");
  file.lines.push({ number: Number(digits), text, isMatch });
}

const relative = (name: string): string => (name.startsWith("./") ? name.slice(2) : name);
