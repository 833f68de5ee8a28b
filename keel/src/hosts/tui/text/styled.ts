/** Text with meaning instead of colour: which colour a role has is the theme's matter (`theme.ts`). Pure data. */
import type { Image } from "../../../protocol/message.ts";
import { cellsOf, cellWidth, isPlain, type SignCells, type WidthProfile } from "./width.ts";

/** What a colour stands for. What has none is plain text. */
export type TextRole =
  | "running"
  | "asking"
  | "failed"
  | "done"
  | "added"
  | "removed"
  | "added-word"
  | "removed-word"
  | "code"
  | "keyword"
  | "string"
  | "comment"
  | "number"
  | "link"
  /** As a program coloured its own output: its numbers of SGR, which are looked at before. */
  | `sgr:${string}`;

export type Style = {
  readonly role?: TextRole;
  readonly bold?: boolean;
  readonly dim?: boolean;
  readonly italic?: boolean;
  readonly underline?: boolean;
  readonly strike?: boolean;
  readonly inverse?: boolean;
  /** An address that the terminal opens. */
  readonly link?: string;
};

/** A piece of a line. Its text is inert: no controls, no tabs. */
export type TextSpan = { readonly text: string; readonly style?: Style | undefined };

export type TextLine = readonly TextSpan[];

/** How a line that is too long is printed where it stays: see `wrap.ts`. */
export type Wrap = "words" | "terminal" | "cut";

/** A line for the scrollback. `hang`: how far the rows after its first are moved in. */
export type PrintLine = {
  readonly spans: TextLine;
  readonly wrap: Wrap;
  readonly hang?: number;
  /** Drawn below it, where the terminal can. */
  readonly picture?: Image;
};

export const span = (text: string, style?: Style): TextSpan => (style ? { text, style } : { text });
export const dim = (text: string): TextSpan => ({ text, style: { dim: true } });
export const bold = (text: string): TextSpan => ({ text, style: { bold: true } });
export const role = (name: TextRole, text: string, more?: Style): TextSpan => ({
  text,
  style: { ...more, role: name },
});

/** A line that stays, one row at most. */
export const cut = (...spans: TextSpan[]): PrintLine => ({ spans, wrap: "cut" });
export const words = (spans: TextLine, hang = 0): PrintLine => ({
  spans,
  wrap: "words",
  ...(hang ? { hang } : {}),
});
/** A line that people copy: the terminal breaks it, and joins it again. */
export const asIs = (...spans: TextSpan[]): PrintLine => ({ spans, wrap: "terminal" });
export const blank: PrintLine = { spans: [], wrap: "cut" };

export const textOfLine = (line: TextLine): string => line.map(({ text }) => text).join("");

export const lineWidth = (line: TextLine, profile?: WidthProfile): number =>
  line.reduce((sum, { text }) => sum + cellWidth(text, profile), 0);

/** The same words in another manner; what a span has of its own stays. */
export const styled = (line: TextLine, style: Style): TextLine =>
  line.map((part) => ({ text: part.text, style: { ...style, ...part.style } }));

/** The signs of a line with their styles, one by one. */
export function* cellsOfLine(
  line: TextLine,
  profile?: WidthProfile,
): Generator<SignCells & { readonly style: Style | undefined }, void> {
  for (const { text, style } of line)
    for (const { text: sign, cells } of cellsOf(text, profile)) yield { text: sign, cells, style };
}

/** The same, where plain text is one piece, which may be cut anywhere. */
function* runsOfLine(
  line: TextLine,
  profile: WidthProfile | undefined,
): Generator<SignCells & { readonly style: Style | undefined }, void> {
  for (const part of line)
    if (isPlain(part.text)) yield { text: part.text, cells: part.text.length, style: part.style };
    else yield* cellsOfLine([part], profile);
}

/** At most so many cells; where something was left out the mark stands last. */
export function clip(line: TextLine, cells: number, { profile, signs }: ClipOptions = {}): TextLine {
  const mark = signs?.ellipsis ?? "…";
  if (lineWidth(line, profile) <= cells) return line;
  const room = cells - cellWidth(mark, profile);
  if (room < 0) return [];
  const kept: TextSpan[] = [];
  let used = 0;
  for (const sign of runsOfLine(line, profile)) {
    const isRun = sign.cells > room - used && isPlain(sign.text);
    const text = isRun ? sign.text.slice(0, room - used) : sign.text;
    const cells = isRun ? text.length : sign.cells;
    if (used + cells > room) break;
    used += cells;
    if (text !== "") append(kept, text, sign.style);
    if (isRun) break;
  }
  return [...kept, { text: mark, style: { dim: true } }];
}

type ClipOptions = {
  readonly profile?: WidthProfile | undefined;
  readonly signs?: { readonly ellipsis: string } | undefined;
};

/** Adds a sign to a line that is being made: joined to its last span where the style is the same. */
export function append(line: TextSpan[], text: string, style: Style | undefined): void {
  const last = line.at(-1);
  if (last && last.style === style) line[line.length - 1] = { text: last.text + text, style };
  else line.push({ text, style });
}

/** With blanks up to a column. */
export function padTo(line: TextLine, cells: number, profile?: WidthProfile): TextLine {
  const missing = cells - lineWidth(line, profile);
  return missing > 0 ? [...line, { text: " ".repeat(missing) }] : line;
}

/** What stands further right is no longer seen to belong to what stands left. */
export const farthestEdge = 100;
/** In so few cells what stands right gives way. */
const tightCells = 30;

/** What stands left and what stands right of the same row; where both do not fit, the left one is cut, or is alone. */
export function sides(left: TextLine, right: TextLine, cells: number, options: ClipOptions = {}): TextLine {
  const rightCells = lineWidth(right, options.profile);
  const room = cells - rightCells - 2;
  const leftCells = lineWidth(left, options.profile);
  const isTight = room < Math.min(cells / 3, leftCells) || (cells < tightCells && leftCells > room);
  if (rightCells === 0 || isTight) return clip(left, cells, options);
  const kept = clip(left, room, options);
  return [...kept, { text: " ".repeat(cells - lineWidth(kept, options.profile) - rightCells) }, ...right];
}
