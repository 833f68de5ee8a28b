import type { LineMatch } from "../../ports/search.ts";

/** What the search program writes, taken apart while it comes. Bytes in any pieces give the same result. */

/** Between the number of a line and its text: two bytes that no name and hardly a text has. */
export const matchMark = "\x01";
export const contextMark = "\x02";
/** Characters of a line that are kept: the program cuts there, and says so. */
export const maxColumns = 500;

/** Names that end with a NUL byte, as `--files` and `-l` write them. There may be a hundred thousand of them. */
export function nameReader(take: (name: string) => void): { push(chunk: Buffer): void } {
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

export type FileLines = { matches: number; readonly lines: LineMatch[] };

/** `name NUL number mark text LF`, or `name NUL count LF`. */
export function lineReader(mode: "lines" | "counts"): {
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
  return { push: pieceReader(lineFeed, take).push, files, rest: () => relative(open.trim()) };
}

function addLine(file: FileLines, rest: string): void {
  const digits = /^\d+/.exec(rest)?.[0] ?? "";
  const isMatch = rest[digits.length] === matchMark;
  if (isMatch) file.matches += 1;
  const text = rest.slice(digits.length + 1).replace(/\r$/, "");
  file.lines.push({ number: Number(digits), text, isMatch });
}

/** Calls `take` for everything up to each `end`; a rest without one is dropped, since it was cut off. */
function pieceReader(end: number, take: (piece: Buffer) => void): { push(chunk: Buffer): void } {
  let waiting: Buffer[] = [];
  return {
    push(chunk) {
      let from = 0;
      for (let at = chunk.indexOf(end); at >= 0; at = chunk.indexOf(end, from)) {
        const piece = chunk.subarray(from, at);
        take(waiting.length === 0 ? piece : Buffer.concat([...waiting, piece]));
        waiting = [];
        from = at + 1;
      }
      if (from < chunk.length) waiting.push(chunk.subarray(from));
    },
  };
}

const relative = (name: string): string => (name.startsWith("./") ? name.slice(2) : name);
