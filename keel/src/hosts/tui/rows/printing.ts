/**
 * What of a transcript is finished, in order, each row once: the law of the screen. Whatever was printed leaves the
 * transcript, which so holds only what still changes. A reply is printed while it is written, line by line; if it is
 * withdrawn, that is said, and if it comes whole after all (a wire was cut), it goes on where it stood. Pure.
 */
import type { Row, TextRow } from "../../../view/rows.ts";
import { type KeyedTranscript, rowsOf } from "../../../view/transcript.ts";
import { withoutRow } from "../../../view/without-row.ts";
import { endMarkdown, feedMarkdown, type MarkdownState, markdownStart } from "../markdown/markdown.ts";
import { blank, dim, type PrintLine, words } from "../text/styled.ts";
import type { RowContext } from "./context.ts";
import { rowLines } from "./row.ts";
import { isOpen } from "./tool-row.ts";

export type Printing = {
  /** A reply of which a part is printed. */
  readonly partial: {
    readonly key: string;
    readonly text: string;
    readonly markdown: MarkdownState;
  } | null;
  /** What stands above: it decides whether a blank line comes between. */
  readonly above: RowShape | "nothing";
};

/** `apart`: words of the screen itself, from which everything stands apart. */
type RowShape = "user" | "text" | "call" | "note" | "apart";

export const nothingPrinted: Printing = { partial: null, above: "nothing" };

export type Finished = {
  readonly lines: readonly PrintLine[];
  readonly printing: Printing;
  /** Without what was printed. */
  readonly transcript: KeyedTranscript;
};

export function takeFinished(before: KeyedTranscript, start: Printing, context: RowContext): Finished {
  const lines: PrintLine[] = [];
  let transcript = before;
  let printing = start;
  for (const row of rowsOf(before)) {
    const state = stateOf(row);
    if (state === "beside") continue;
    if (state === "open") {
      if (row.kind === "text" && isMine(printing, row)) {
        const step = printText(row, printing, context, "open");
        lines.push(...step.lines);
        printing = step.printing;
      }
      break;
    }
    const step = printRow(row, printing, context);
    lines.push(...step.lines);
    printing = step.printing;
    transcript = withoutRow(transcript, row.id);
  }
  return { lines, printing, transcript };
}

/** `beside`: waits for something else and holds nobody up. `open`: what comes after it waits too. */
function stateOf(row: Row): "finished" | "open" | "beside" {
  switch (row.kind) {
    case "user":
      return row.status === "waiting" ? "beside" : "finished";
    case "text":
    case "thinking":
      return row.live ? "open" : "finished";
    case "tool":
      return isOpen(row.status) ? "open" : "finished";
    case "ask":
      return row.closed ? "finished" : "beside";
    case "agent":
    case "task":
      return row.status === "running" ? "beside" : "finished";
    default:
      return "finished";
  }
}

type PrintStep = { readonly lines: readonly PrintLine[]; readonly printing: Printing };

/** A new reply, or the one that goes on from what is printed of it. */
const isMine = ({ partial }: Printing, row: TextRow): boolean =>
  partial === null || (partial.key === row.id && row.text.startsWith(partial.text));

function printRow(row: Row, printing: Printing, context: RowContext): PrintStep {
  if (row.kind === "text" && isMine(printing, row)) return printText(row, printing, context, "whole");
  const shown = rowLines(row, context);
  const withdrawn = printing.partial ? withdraw(printing) : undefined;
  if (shown.length === 0 && !(row.kind === "turn-end" && withdrawn)) return { lines: [], printing };
  const start = withdrawn?.printing ?? printing;
  if (row.kind === "text") {
    const whole = printText(row, start, context, "whole");
    return { lines: [...(withdrawn?.lines ?? []), ...whole.lines], printing: whole.printing };
  }
  const shape = shapeOf(row);
  return {
    lines: [
      ...(withdrawn?.lines ?? []),
      ...(shown.length > 0 ? gapBefore(start.above, shape) : []),
      ...shown,
    ],
    printing: { partial: null, above: shown.length > 0 ? shape : start.above },
  };
}

function printText(
  row: TextRow,
  { partial, above }: Printing,
  context: RowContext,
  extent: "open" | "whole",
): PrintStep {
  const before = partial ?? { key: row.id, text: "", markdown: markdownStart };
  // A feed ends a line; only what is whole is printed as long as it is written.
  const end = extent === "whole" ? row.text.trimEnd().length : row.text.lastIndexOf("\n") + 1;
  if (end <= before.text.length && extent === "open") return { lines: [], printing: { partial, above } };
  const rest = row.text.slice(before.text.length, Math.max(end, before.text.length));
  const source = rest === "" ? [] : rest.replace(/\n$/, "").split("\n");
  const fed = feedMarkdown(before.markdown, source, context);
  const lines = [...fed.lines, ...(extent === "whole" ? endMarkdown(fed.state, context) : [])];
  const isFirst = before.markdown.above === "nothing" && lines.length > 0;
  return {
    lines: [...(isFirst ? gapBefore(above, "text") : []), ...lines],
    printing: {
      partial: extent === "whole" ? null : { key: row.id, text: row.text.slice(0, end), markdown: fed.state },
      above: lines.length > 0 || fed.state.above !== "nothing" ? "text" : above,
    },
  };
}

/** What stands there of a reply that failed. */
function withdraw({ partial, above }: Printing): PrintStep {
  const isSeen = partial !== null && partial.markdown.above !== "nothing";
  return {
    lines: isSeen ? [words([dim("(cut off here: this reply does not count)")])] : [],
    printing: { partial: null, above: isSeen ? "note" : above },
  };
}

function shapeOf(row: Row): RowShape {
  if (row.kind === "user" || row.kind === "text") return row.kind;
  // What went wrong is not taken for the end of what a call said.
  if (row.kind === "thinking" || (row.kind === "turn-end" && row.fault)) return "text";
  return row.kind === "tool" ? "call" : "note";
}

/** What a person said stands apart; so do words after work. Work follows words directly. */
export function gapBefore(above: Printing["above"], shape: RowShape): readonly PrintLine[] {
  if (above === "nothing") return [];
  return above === "user" || above === "apart" || shape === "user" || shape === "text" ? [blank] : [];
}

/** What is still to come of the reply that is being written: the line that has not ended, and what waits with it. */
export function unfinishedText(
  row: TextRow,
  { partial }: Printing,
  context: RowContext,
): readonly PrintLine[] {
  const before =
    partial && partial.key === row.id && row.text.startsWith(partial.text)
      ? partial
      : { text: "", markdown: markdownStart };
  const rest = row.text.slice(before.text.length);
  const fed = feedMarkdown(before.markdown, rest === "" ? [] : rest.split("\n"), context);
  return [...fed.lines, ...endMarkdown(fed.state, context)];
}
