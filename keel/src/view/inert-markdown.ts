/**
 * Markdown that somebody else wrote, made safe to open in any viewer: tags become text and images are not loaded, while
 * code stays as it was written. What counts as code must be code for every reader, or a tag would pass as code here and
 * come alive there. So fences are moved to the start of their line, where nothing encloses them; a span of code ends on
 * its line; and backticks without a partner are escaped, so that they cannot find one elsewhere.
 */

export function inertMarkdown(text: string): string {
  return partsOf(text)
    .map((part) => {
      if (part.kind === "code") return fenced(part.text, part.language);
      return part.text.split("\n").map(inertLine).join("\n");
    })
    .join("\n");
}

export type MarkdownPart =
  | { readonly kind: "prose"; readonly text: string }
  | { readonly kind: "code"; readonly text: string; readonly language: string };

/** Prose and the code blocks between, in their order. A block that is never closed reaches to the end. */
export function partsOf(text: string): MarkdownPart[] {
  const parts: MarkdownPart[] = [];
  let fence: Fence | undefined;
  let lines: string[] = [];
  const finish = (): void => {
    const joined = lines.join("\n");
    if (fence) parts.push({ kind: "code", text: joined, language: fence.language });
    else if (lines.length > 0) parts.push({ kind: "prose", text: joined });
    lines = [];
  };
  for (const line of text.split("\n")) {
    const opening = fence ? undefined : opens(line);
    if (opening || (fence && closes(line, fence))) {
      finish();
      fence = opening;
    } else lines.push(fence ? withoutIndent(line, fence.indent) : line);
  }
  finish();
  return parts;
}

/** A fence that nothing inside can close, for text that must stand as it is. */
export function fenced(text: string, language = ""): string {
  const mark = "`".repeat(Math.max(3, longestRun(text) + 1));
  return `${mark}${language}\n${text}\n${mark}`;
}

/** A word or path as code within a line. */
export function codeSpan(text: string): string {
  const line = text.replaceAll("\n", " ");
  const ticks = "`".repeat(longestRun(line) + 1);
  const space = line.startsWith("`") || line.endsWith("`") || line === "" ? " " : "";
  return `${ticks}${space}${line}${space}${ticks}`;
}

const longestRun = (text: string): number =>
  text.match(/`+/g)?.reduce((most, run) => Math.max(most, run.length), 0) ?? 0;

type Fence = { readonly mark: string; readonly indent: number; readonly language: string };

function opens(line: string): Fence | undefined {
  const [, indent = "", mark = "", info = ""] = /^( *)(`{3,}|~{3,})(.*)$/s.exec(line) ?? [];
  // Backticks after a fence of backticks make it a span of code.
  if (mark === "" || (mark.startsWith("`") && info.includes("`"))) return undefined;
  return { mark, indent: indent.length, language: /^ *([\w+#.-]*)/.exec(info)?.[1] ?? "" };
}

/** As long as the opening fence or longer, of the same kind, and nothing beside it. */
function closes(line: string, { mark }: Fence): boolean {
  const run = line.trim();
  return run.length >= mark.length && run === (mark[0] ?? "").repeat(run.length);
}

const withoutIndent = (line: string, indent: number): string => {
  const blanks = line.length - line.trimStart().length;
  return line.slice(Math.min(indent, blanks));
};

type LinePiece = { readonly code: boolean; readonly text: string };

/** One line of prose, wherever it stands: after a heading's mark, in a list, in a quotation. */
export function inertLine(line: string): string {
  const pieces = piecesOf(line);
  // A table splits its cells inside code too: such a line is prose to us throughout.
  const splits = pieces.some(({ code, text }) => code && text.includes("|"));
  return pieces.map(({ code, text }) => (code && !splits ? text : withoutMarkup(text))).join("");
}

/** Code is a run of backticks up to the next run of the same length; other runs lose their meaning. */
function piecesOf(line: string): LinePiece[] {
  const pieces: LinePiece[] = [];
  const runs = runsByLength(line);
  let at = 0;
  // A backslash takes the meaning of what follows it, outside of code.
  for (const { 0: run, index } of line.matchAll(/\\.|`+/gsu)) {
    if (index < at || run.startsWith("\\")) continue;
    pieces.push({ code: false, text: line.slice(at, index) });
    at = index + run.length;
    const close = nextRun(runs, { length: run.length, from: at });
    if (close === undefined) pieces.push({ code: false, text: "\\`".repeat(run.length) });
    else {
      at = close + run.length;
      pieces.push({ code: true, text: line.slice(index, at) });
    }
  }
  return [...pieces, { code: false, text: line.slice(at) }];
}

/** Where the runs of each length start, the first one last: taking one costs the same however long the line is. */
function runsByLength(line: string): Map<number, number[]> {
  const runs = new Map<number, number[]>();
  for (const { 0: run, index } of [...line.matchAll(/`+/g)].reverse()) {
    const starts = runs.get(run.length);
    if (starts) starts.push(index);
    else runs.set(run.length, [index]);
  }
  return runs;
}

/** Inside code a backslash is a backslash, so any run of the right length ends it. */
function nextRun(
  runs: Map<number, number[]>,
  { length, from }: { length: number; from: number },
): number | undefined {
  const starts = runs.get(length) ?? [];
  while ((starts.at(-1) ?? from) < from) starts.pop();
  return starts.at(-1);
}

const withoutMarkup = (prose: string): string =>
  prose
    .replace(/<(?=[A-Za-z/!?])/g, "&lt;")
    .replace(/!(?=\[)/g, "&#33;")
    .replace(/~{3,}/g, (run) => "\\~".repeat(run.length));
