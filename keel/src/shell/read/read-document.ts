/** Line ends, and the here-documents that start behind them. */
import { readDocument } from "./read-word.ts";
import { deeper, type Pending, peek, positions, type ShellSource, skipBlanks, Unreadable } from "./source.ts";
import type { Word } from "./syntax.ts";

/** Blanks, comments and any number of line ends. */
export function readNewlines(source: ShellSource): void {
  for (;;) {
    skipBlanks(source);
    if (peek(source) !== "\n") return;
    source.at += 1;
    const { pending } = source;
    source.pending = [];
    for (const document of pending) document.settle(readBody(source, document));
  }
}

function readBody(source: ShellSource, document: Pending): Word {
  const start = source.at;
  for (let line = start; line < source.end; ) {
    const { text, next } = document.isLiteral ? rawLine(source, line) : joinedLine(source, line);
    const given = document.stripsTabs ? text.replace(/^\t+/, "") : text;
    if (given === document.delimiter) {
      const body = bodyBetween(source, { start, end: line, document });
      source.at = next;
      return body;
    }
    // Inside of `$( )` bash also takes a delimiter with a parenthesis behind it.
    if (source.depth > 0 && given.startsWith(document.delimiter))
      throw new Unreadable("a here-document ends in an unusual way");
    line = next;
  }
  throw new Unreadable("a here-document is not closed");
}

function bodyBetween(
  source: ShellSource,
  { start, end, document }: { start: number; end: number; document: Pending },
): Word {
  const inner = deeper(source, { at: start, end });
  if (!document.isLiteral) return readDocument(inner);
  inner.at = end;
  const place = positions(inner, start);
  return { ...place, parts: [{ kind: "text", text: source.text.slice(start, end), quoted: true }] };
}

function rawLine(source: ShellSource, from: number): { text: string; next: number } {
  const found = source.text.indexOf("\n", from);
  const end = found < 0 || found > source.end ? source.end : found;
  return { text: source.text.slice(from, end), next: end + 1 };
}

/** A line with what a backslash at its end joins to it. */
function joinedLine(source: ShellSource, from: number): { text: string; next: number } {
  let text = "";
  let at = from;
  for (;;) {
    const { text: piece, next } = rawLine(source, at);
    const backslashes = /\\*$/.exec(piece)?.[0].length ?? 0;
    if (backslashes % 2 === 0 || next > source.end) return { text: text + piece, next };
    text += piece.slice(0, -1);
    at = next;
  }
}
