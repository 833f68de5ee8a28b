/**
 * Markdown as lines to print, one line of the source at a time, so that a reply is printed while it is written: what has
 * come out once never changes. Only a table waits for its end. Feeding a text in pieces gives the same lines as feeding it
 * whole. Code stands at the left edge, without marks, as people copy it.
 */
import { type CodeState, highlight } from "../text/code.ts";
import { inertLines } from "../text/inert.ts";
import { asIs, blank, dim, lineWidth, type PrintLine, styled, type TextSpan, words } from "../text/styled.ts";
import { inlineSpans, type MarkdownContext } from "./inline.ts";
import { tableLines } from "./table.ts";

/** What is open, and what was printed last. */
export type MarkdownState = {
  readonly fence: { readonly mark: string; readonly language: string; readonly indent: number } | null;
  readonly code: CodeState;
  /** Rows of a table whose end has not come. */
  readonly table: readonly string[];
  /** What stands above: nothing yet, a blank line, or words. */
  readonly above: "nothing" | "blank" | "words" | "code";
  /** A blank line is printed when something follows it. */
  readonly owesBlank: boolean;
};

export const markdownStart: MarkdownState = {
  fence: null,
  code: null,
  table: [],
  above: "nothing",
  owesBlank: false,
};

type MarkdownStep = { readonly state: MarkdownState; readonly lines: readonly PrintLine[] };

/** Whole lines of the source, without the feed at their end. */
export function feedMarkdown(
  before: MarkdownState,
  source: readonly string[],
  context: MarkdownContext,
): MarkdownStep {
  let state = before;
  const lines: PrintLine[] = [];
  for (const raw of source) {
    const step = feedLine(state, raw, context);
    state = step.state;
    lines.push(...step.lines);
  }
  return { state, lines };
}

/** Nothing follows: what was held back comes out. */
export function endMarkdown(before: MarkdownState, context: MarkdownContext): readonly PrintLine[] {
  return before.table.length === 0 ? [] : endTable(before, context).lines;
}

export function markdownLines(text: string, context: MarkdownContext): PrintLine[] {
  const { state, lines } = feedMarkdown(markdownStart, text.trimEnd().split("\n"), context);
  return [...lines, ...endMarkdown(state, context)];
}

function feedLine(state: MarkdownState, raw: string, context: MarkdownContext): MarkdownStep {
  const line = inertLines(raw)[0] ?? "";
  if (state.fence) return feedCode(state, state.fence, line);
  if (state.table.length > 0) {
    if (isTableRow(line)) return { state: { ...state, table: [...state.table, line] }, lines: [] };
    const ended = endTable(state, context);
    const next = feedLine(ended.state, raw, context);
    return { state: next.state, lines: [...ended.lines, ...next.lines] };
  }
  if (line.trim() === "") return { state: { ...state, owesBlank: state.above !== "nothing" }, lines: [] };
  const fence = fenceOf(line);
  if (fence) {
    const owesBlank = state.above !== "nothing";
    return { state: { ...state, fence, code: null, owesBlank }, lines: [] };
  }
  if (isTableRow(line)) return { state: { ...state, table: [line] }, lines: [] };
  return print({ ...state, owesBlank: state.owesBlank || state.above === "code" }, [
    proseLine(line, context),
  ]);
}

function print(
  state: MarkdownState,
  lines: readonly PrintLine[],
  above: "words" | "code" = "words",
): MarkdownStep {
  const first = state.owesBlank && state.above !== "blank" ? [blank] : [];
  return { state: { ...state, above, owesBlank: false }, lines: [...first, ...lines] };
}

function fenceOf(line: string): MarkdownState["fence"] {
  const [, indent = "", mark = "", info = ""] = /^( *)(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
  if (mark === "" || (mark.startsWith("`") && info.includes("`"))) return null;
  return { mark, indent: indent.length, language: /^\s*([\w+#.-]*)/.exec(info)?.[1] ?? "" };
}

function feedCode(
  state: MarkdownState,
  fence: NonNullable<MarkdownState["fence"]>,
  line: string,
): MarkdownStep {
  const run = line.trim();
  if (run.length >= fence.mark.length && run === (fence.mark[0] ?? "").repeat(run.length))
    return { state: { ...state, fence: null, code: null, above: "code", owesBlank: false }, lines: [] };
  const indent = line.length - line.trimStart().length;
  const text = line.slice(Math.min(indent, fence.indent));
  const coloured = highlight(text, fence.language, state.code);
  return print({ ...state, code: coloured.state }, [asIs(...coloured.spans)], "code");
}

const isTableRow = (line: string): boolean => /^\s*\|.*\|\s*$/.test(line);

function endTable(state: MarkdownState, context: MarkdownContext): MarkdownStep {
  const lines = tableLines(state.table, context) ?? state.table.map((row) => proseLine(row, context));
  return print({ ...state, table: [], owesBlank: state.owesBlank || state.above === "words" }, lines, "code");
}

function proseLine(line: string, context: MarkdownContext): PrintLine {
  const { signs } = context;
  const inline = (text: string) => inlineSpans(text, context);
  const [, marks = "", heading = ""] = /^ {0,3}(#{1,6})\s+(.*?)(?:\s+#+)?\s*$/.exec(line) ?? [];
  if (marks !== "")
    return words(styled(inline(heading), { bold: true, ...(marks.length === 1 ? { underline: true } : {}) }));
  if (/^ {0,3}(?:-\s*){3,}$|^ {0,3}(?:\*\s*){3,}$|^ {0,3}(?:_\s*){3,}$/.test(line))
    return asIs(dim(signs.line.repeat(Math.min(24, Math.max(3, context.columns - 2)))));
  const [, indent = "", mark = "", box, item = ""] =
    /^(\s*)([-*+]|\d{1,9}[.)])\s+(?:\[([ xX])\]\s+)?(.*)$/.exec(line) ?? [];
  if (mark !== "") {
    const sign =
      box === undefined
        ? /\d/.test(mark)
          ? mark
          : signs.bullet
        : box === " "
          ? signs.unticked
          : signs.ticked;
    const head: TextSpan = { text: `${indent}${sign} ` };
    return words([head, ...inline(item)], lineWidth([head], context.profile));
  }
  const [, quote] = /^ {0,3}>\s?(.*)$/.exec(line) ?? [];
  if (quote !== undefined) return words([dim("> "), ...styled(inline(quote), { italic: true })], 2);
  const lead = /^\s*/.exec(line)?.[0] ?? "";
  return words([...(lead === "" ? [] : [{ text: lead }]), ...inline(line.slice(lead.length))], lead.length);
}
