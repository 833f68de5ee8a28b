/** A place to work that exists in memory only: files, a shell that knows a few commands, and a trace of what was done. */
import path from "node:path/posix";
import { reasonOf } from "../kernel/fault.ts";
import { globMatcher, parseGlob } from "../kernel/glob.ts";
import { isInside } from "../kernel/path.ts";
import type { Clock } from "../ports/clock.ts";
import type { FileMatch, LineMatch, Search, TextSearchRequest, TextSearchResult } from "../ports/search.ts";
import type { Workspace } from "../ports/workspace.ts";
import { instantClock } from "./fake-clock.ts";
import { MemoryFiles } from "./memory-files.ts";
import { type ShellScript, scriptedShell } from "./scripted-shell.ts";

export type MemoryWorkspace = Workspace & {
  readonly files: MemoryFiles;
  /** What changed something, in its order: `write /project/a.txt`, `run npm test`. */
  readonly effects: string[];
};

export type MemoryWorkspaceOptions = {
  /** Path, absolute or below `cwd`, to content. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  readonly cwd?: string;
  /** Without it `cwd` is the only root. */
  readonly roots?: readonly string[];
  readonly shell?: ShellScript;
  /** On which commands take their time. Without one they take none. */
  readonly clock?: Clock;
};

export function memoryWorkspace({
  files = {},
  cwd = "/project",
  roots = [cwd],
  shell = {},
  clock = instantClock(),
}: MemoryWorkspaceOptions = {}): MemoryWorkspace {
  const effects: string[] = [];
  const note = (effect: string): void => void effects.push(effect);
  const memory = new MemoryFiles({ cwd, roots, note });
  for (const [name, content] of Object.entries(files)) memory.put(name, content);
  return {
    cwd,
    roots,
    files: memory,
    search: memorySearch(memory),
    documents: { pdfText: async () => ({ ok: false, why: "There are no documents in memory." }) },
    shell: scriptedShell({ script: shell, files: memory, clock, note }),
    effects,
  };
}

/** Search: nothing is ignored, and the newest file is the one written last. */
function memorySearch(files: MemoryFiles): Search {
  return {
    async files({ directory, rests }) {
      const fits = globMatcher(rests);
      const found = below(files, directory).map((file) => file.path);
      const paths = found.filter((file) => fits(path.relative(directory, file))).toReversed();
      return { ok: true, paths, end: "complete", problems: [] };
    },
    text: async (request) => findText(files, request),
  };
}

function below(files: MemoryFiles, directory: string): FileMatch[] {
  return files
    .inOrder()
    .map((file, at): FileMatch => ({ path: file, modifiedMs: at + 1 }))
    .filter((file) => isInside(file.path, [directory]));
}

function findText(files: MemoryFiles, request: TextSearchRequest): TextSearchResult {
  let expression: RegExp;
  try {
    expression = new RegExp(request.pattern, request.letterCase === "any" ? "gimsu" : "gmsu");
  } catch (thrown) {
    return { ok: false, why: reasonOf(thrown) };
  }
  const fits = globFilter(request.glob);
  const found = below(files, request.target)
    .filter((file) => fits(path.relative(request.target, file.path)))
    .map((file) => ({ ...file, ...linesOf(files.text(file.path) ?? "", expression, request) }))
    .filter(({ matches }) => matches > 0)
    .sort((left, right) => (left.path < right.path ? -1 : 1));
  return { ok: true, files: found, end: "complete", problems: [] };
}

/** As the real one takes it: without a slash it is about the name, wherever the file is. */
function globFilter(glob: string | undefined): (file: string) => boolean {
  if (glob === undefined) return () => true;
  const bare = glob.replace(/^!/, "");
  const parsed = parseGlob(bare.includes("/") ? bare : `**/${bare}`);
  if (!parsed.ok) return () => false;
  const { base, rests } = parsed.value;
  const matches = globMatcher(rests.map((rest) => (base === "" ? rest : `${base}/${rest}`)));
  return (file) => matches(file) !== glob.startsWith("!");
}

function linesOf(
  text: string,
  expression: RegExp,
  { mode, before, after, show, lines: reach }: TextSearchRequest,
): { matches: number; lines: LineMatch[] } {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const hits = reach === "across" ? hitsAcross(text, expression) : hitsInEach(lines, expression);
  if (mode !== "lines") return { matches: hits.size, lines: [] };
  const shown = lines.flatMap((line, at): LineMatch[] => {
    const number = at + 1;
    if (hits.has(number))
      return show === "match"
        ? [...line.matchAll(expression)].map(([match]) => ({ number, text: match, isMatch: true }))
        : [{ number, text: line, isMatch: true }];
    const isNear = [...hits].some((hit) => number >= hit - before && number <= hit + after);
    return isNear ? [{ number, text: line, isMatch: false }] : [];
  });
  return { matches: hits.size, lines: shown };
}

const hitsInEach = (lines: readonly string[], expression: RegExp): Set<number> =>
  new Set(lines.flatMap((line, at) => (line.search(expression) >= 0 ? [at + 1] : [])));

function hitsAcross(text: string, expression: RegExp): Set<number> {
  const hits = new Set<number>();
  for (const match of text.matchAll(expression)) {
    const first = text.slice(0, match.index).split("\n").length;
    const count = match[0].split("\n").length;
    for (let at = 0; at < count; at++) hits.add(first + at);
  }
  return hits;
}
