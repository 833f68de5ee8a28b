/** The output of a terminal as lines of pieces with looks. Colours become those of the theme; all other codes do nothing. */
import { readable } from "keel/view";

export type AnsiPiece = {
  readonly text: string;
  /** Names of looks: `red`, `on-blue`, `bold`, `dim`. Empty for plain. */
  readonly looks: readonly string[];
};
export type AnsiLine = readonly AnsiPiece[];

type Pen = {
  readonly ink: string;
  readonly ground: string;
  readonly bold: boolean;
  readonly dim: boolean;
  readonly italic: boolean;
  readonly underline: boolean;
  readonly inverse: boolean;
};

const plain: Pen = {
  ink: "",
  ground: "",
  bold: false,
  dim: false,
  italic: false,
  underline: false,
  inverse: false,
};

const sequence = new RegExp(
  [
    // With its parameters: colours and movements.
    "(?:\\u001b\\[|\\u009b)([0-?]*)[ -/]*([@-~])",
    // Strings: titles, links, whatever else a terminal would be told.
    "(?:\\u001b[\\]PX^_]|[\\u0090\\u0098\\u009d-\\u009f])[^\\u0007\\u001b\\u009c]*(?:\\u0007|\\u001b\\\\|\\u009c)?",
    "\\u001b[ -/]*[0-~]?",
  ].join("|"),
  "gu",
);

export function parseAnsi(output: string): readonly AnsiLine[] {
  let pen = plain;
  return output
    .replaceAll("\r\n", "\n")
    .split("\n")
    .map((whole) => {
      const line = lastDrawn(whole);
      const pieces: AnsiPiece[] = [];
      let at = 0;
      const put = (text: string): void => {
        if (text !== "") pieces.push({ text: readable(text), looks: looksOf(pen) });
      };
      for (const found of line.matchAll(sequence)) {
        put(line.slice(at, found.index));
        at = found.index + found[0].length;
        if (found[2] === "m") pen = withCodes(pen, found[1] ?? "");
      }
      put(line.slice(at));
      return pieces;
    });
}

/** A line that draws over itself, such as a progress bar, is what it drew last. */
function lastDrawn(line: string): string {
  if (!line.includes("\r")) return line;
  const drawn = line.split("\r").filter((part) => part.replace(sequence, "").trim() !== "");
  return drawn.at(-1) ?? "";
}

function looksOf({ ink, ground, bold, dim, italic, underline, inverse }: Pen): string[] {
  return [
    ...(ink === "" ? [] : [ink]),
    ...(ground === "" ? [] : [`on-${ground}`]),
    ...(bold ? ["bold"] : []),
    ...(dim ? ["dim"] : []),
    ...(italic ? ["italic"] : []),
    ...(underline ? ["underline"] : []),
    ...(inverse ? ["inverse"] : []),
  ];
}

const names = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const;

function withCodes(pen: Pen, given: string): Pen {
  const codes = given.split(/[;:]/).map((code) => (code === "" ? 0 : Number(code)));
  let next = pen;
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? 0;
    if (code === 38 || code === 48) {
      const [name, used] = extended(codes.slice(at + 1));
      next = code === 38 ? { ...next, ink: name } : { ...next, ground: name };
      at += used;
    } else next = withCode(next, code);
  }
  return next;
}

function withCode(pen: Pen, code: number): Pen {
  if (code >= 30 && code <= 37) return { ...pen, ink: names[code - 30] ?? "" };
  if (code >= 90 && code <= 97) return { ...pen, ink: names[code - 90] ?? "" };
  if (code >= 40 && code <= 47) return { ...pen, ground: names[code - 40] ?? "" };
  if (code >= 100 && code <= 107) return { ...pen, ground: names[code - 100] ?? "" };
  switch (code) {
    case 0:
      return plain;
    case 1:
      return { ...pen, bold: true };
    case 2:
      return { ...pen, dim: true };
    case 3:
      return { ...pen, italic: true };
    case 4:
      return { ...pen, underline: true };
    case 7:
      return { ...pen, inverse: true };
    case 22:
      return { ...pen, bold: false, dim: false };
    case 23:
      return { ...pen, italic: false };
    case 24:
      return { ...pen, underline: false };
    case 27:
      return { ...pen, inverse: false };
    case 39:
      return { ...pen, ink: "" };
    case 49:
      return { ...pen, ground: "" };
    default:
      return pen;
  }
}

/** `5;n` of the table of 256, or `2;r;g;b`: the nearest of the eight that a theme has. */
function extended(codes: readonly number[]): readonly [name: string, used: number] {
  const [kind, first = 0, second = 0, third = 0] = codes;
  if (kind === 5) return [nearest(ofTable(first)), 2];
  return kind === 2 ? [nearest([first, second, third]), 4] : ["", 1];
}

type Colour = readonly [red: number, green: number, blue: number];

function ofTable(index: number): Colour {
  if (index < 16) {
    const on = index > 7 ? 255 : 190;
    return [index & 1 ? on : 0, index & 2 ? on : 0, index & 4 ? on : 0];
  }
  if (index > 231) return [(index - 232) * 10 + 8, (index - 232) * 10 + 8, (index - 232) * 10 + 8];
  const step = (value: number): number => (value === 0 ? 0 : value * 40 + 55);
  const cube = index - 16;
  return [step(Math.floor(cube / 36)), step(Math.floor(cube / 6) % 6), step(cube % 6)];
}

function nearest([red, green, blue]: Colour): string {
  const most = Math.max(red, green, blue);
  if (most - Math.min(red, green, blue) < 40) return most > 200 ? "white" : most < 60 ? "black" : "";
  const bit = (value: number, place: number): number => (value > most * 0.6 ? place : 0);
  return names[bit(red, 1) + bit(green, 2) + bit(blue, 4)] ?? "";
}
