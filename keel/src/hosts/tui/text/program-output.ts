/**
 * What a program wrote to its terminal, as lines: its colours stay, what it wrote over is gone (bars of progress), and
 * whatever else it said to the terminal does nothing. Pure.
 */
import { inertLines } from "./inert.ts";
import type { Style, TextLine, TextRole, TextSpan } from "./styled.ts";

const sequence = new RegExp(
  [
    "(?:\\u001b\\[|\\u009b)([0-?]*)[ -/]*([@-~])",
    "(?:\\u001b[\\]PX^_]|[\\u0090\\u0098\\u009d-\\u009f])[^\\u0007\\u001b\\u009c]*(?:\\u0007|\\u001b\\\\|\\u009c)",
    "\\u001b[ -/]*[0-~]",
  ].join("|"),
  "gu",
);

/** The last lines of an output; all of them where none is named. */
export function outputLines(output: string, most = Number.POSITIVE_INFINITY): TextLine[] {
  const all = output.replaceAll("\r\n", "\n").replace(/\n+$/, "").split("\n");
  const lines: TextLine[] = [];
  // Colours begin and end in their own lines nearly always: what is above the cut is not looked at.
  let style: Style | undefined;
  for (const line of all.slice(-Math.min(most, all.length))) {
    const read = readLine(line, style);
    lines.push(read.line);
    style = read.style;
  }
  return lines;
}

type Piece = { readonly text: string; readonly style: Style | undefined };

function readLine(line: string, before: Style | undefined): { line: TextLine; style: Style | undefined } {
  let style = before;
  let pieces: Piece[] = [];
  const write = (text: string): void => {
    // A return writes the line anew: of a bar of progress its last state is left.
    const parts = text.split("\r");
    parts.forEach((part, index) => {
      if (index > 0 && parts.slice(index).some((rest) => rest !== "")) pieces = [];
      if (part !== "") pieces.push({ text: part, style });
    });
  };
  let at = 0;
  for (const found of line.matchAll(sequence)) {
    write(line.slice(at, found.index));
    at = found.index + found[0].length;
    if (found[2] === "m") style = styleAfter(style, found[1] ?? "");
  }
  write(line.slice(at));
  const spans = pieces.flatMap(({ text, style: of }): TextSpan[] => {
    const shown = inertLines(withoutBacksteps(text)).join(" ");
    return shown === "" ? [] : [of ? { text: shown, style: of } : { text: shown }];
  });
  return { line: spans, style };
}

/** A step back takes the sign before it. */
function withoutBacksteps(text: string): string {
  if (!text.includes("\b")) return text;
  const [first = "", ...rest] = text.split("\b");
  return rest.reduce((kept, part) => kept.slice(0, -1) + part, first);
}

/** Of SGR only what changes how letters look; a colour by its own numbers, bounded. */
function styleAfter(before: Style | undefined, parameters: string): Style | undefined {
  let style: Style | undefined = before;
  const codes = parameters.split(/[;:]/).map((code) => Number(code || "0"));
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? 0;
    if (code === 0) style = undefined;
    else if (code === 1) style = { ...style, bold: true };
    else if (code === 2) style = { ...style, dim: true };
    else if (code === 3) style = { ...style, italic: true };
    else if (code === 4) style = { ...style, underline: true };
    else if (code === 22) style = without(style, "bold", "dim");
    else if (code === 39) style = without(style, "role");
    else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97))
      style = { ...style, role: `sgr:${code}` };
    else if (code === 38 || code === 48) {
      const length = codes[at + 1] === 2 ? 4 : 2;
      const numbers = codes.slice(at + 1, at + 1 + length);
      const isWhole = numbers.length === length && numbers.every((one) => one >= 0 && one <= 255);
      const role: TextRole = `sgr:${[code, ...numbers].join(";")}`;
      if (code === 38 && isWhole) style = { ...style, role };
      at += length;
    }
  }
  return style;
}

function without(style: Style | undefined, ...names: readonly (keyof Style)[]): Style | undefined {
  if (!style) return undefined;
  const rest = Object.entries(style).filter(([name]) => !names.some((one) => one === name));
  return rest.length === 0 ? undefined : Object.fromEntries(rest);
}
