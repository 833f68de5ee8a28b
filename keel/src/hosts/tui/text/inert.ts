/**
 * Text of models, tools, files and servers on its way to a screen: it can do nothing there. What would act on a terminal
 * or hide is shown by its name; tabs become blanks; lines are lines.
 */
import { plainTerminal, readable, shorten, visible } from "../../../kernel/text.ts";

const tabWidth = 4;
/** A longer line is told by its start: nobody reads it, and every screen would have to measure it. */
const maxLine = 20_000;

export function inertLines(text: string): string[] {
  return readable(text).split("\n").map(inertLine);
}

/** One line, whatever was in it. */
export const inertOne = (text: string): string => inertLine(readable(text).replace(/\s*\n\s*/g, " "));

/** The words of a program's output, without what it said to its terminal. */
export const inertOutput = (text: string): string[] => plainTerminal(text).split("\n").map(inertLine);

/** What somebody is asked to approve: nothing hides in it, nothing is left out. */
export const approvedLines = (text: string): string[] => visible(text).split("\n");

const bareMark = /^(?:\p{M}|\u200d|\ufe0f)/u;

function inertLine(line: string): string {
  const cut = line.length > maxLine ? `${shorten(line, maxLine)} (${line.length} characters)` : line;
  const tabless = cut.includes("\t") ? expandTabs(cut) : cut;
  // A mark that has no sign to stand on: terminals do not agree what to make of it.
  return bareMark.test(tabless) ? `\u25cc${tabless}` : tabless;
}

function expandTabs(line: string): string {
  let text = "";
  for (const [index, part] of line.split("\t").entries()) {
    if (index > 0) text += " ".repeat(tabWidth - (text.length % tabWidth));
    text += part;
  }
  return text;
}

/** An address that may be given to a terminal to open: of the web or a file, in signs that end nothing. */
export function safeAddress(address: string): string | undefined {
  if (!/^(?:https?|file|mailto):/i.test(address) || address.length > 2_000) return undefined;
  const parsed = URL.parse(address);
  return parsed && /^[\x21-\x7e]+$/.test(parsed.href) ? parsed.href : undefined;
}
