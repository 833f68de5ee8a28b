/**
 * Notebooks (`.ipynb`, nbformat 4) as data. What is not understood is kept: numbers stay as they were written, unknown
 * fields stay where they were, and the text that comes back has the form of the text that went in.
 */
import { isObject } from "../kernel/json.ts";
import { no, type Refused } from "../kernel/result.ts";

export type Notebook = {
  readonly whole: Record<string, unknown>;
  readonly cells: Cell[];
  readonly language: string;
  /** Since 4.5 every cell has an id. */
  readonly hasIds: boolean;
  readonly indent: string;
  readonly endsWithLine: boolean;
};

export type CellType = "code" | "markdown" | "raw";
/** Its fields as they stand in the file. */
export type Cell = Record<string, unknown> & { cell_type: CellType };

export type ReadNotebook = { readonly ok: true; readonly notebook: Notebook } | Refused;

export function parseNotebook(text: string): ReadNotebook {
  let whole: unknown;
  try {
    whole = sourceJson.parse(text, keepNumbers);
  } catch {
    return no("it is not valid JSON");
  }
  if (!isObject(whole)) return no("it is not an object in JSON");
  const cells = whole["cells"];
  if (!Array.isArray(cells)) return no("it has no list of cells (only nbformat 4 is known)");
  const bad = cells.findIndex((cell) => !isCell(cell));
  if (bad >= 0) return no(`cell ${bad + 1} has no known type`);
  return {
    ok: true,
    notebook: {
      whole,
      cells: cells.filter(isCell),
      language: languageOf(whole),
      hasIds: numberOf(whole["nbformat"]) > 4 || numberOf(whole["nbformat_minor"]) >= 5,
      indent: /\n([ \t]+)"/.exec(text)?.[1] ?? " ",
      endsWithLine: text.endsWith("\n"),
    },
  };
}

export function printNotebook({ whole, indent, endsWithLine }: Notebook, cells: readonly Cell[]): string {
  return JSON.stringify({ ...whole, cells }, undefined, indent) + (endsWithLine ? "\n" : "");
}

/** The text of a cell, which stands there whole or line by line. */
export function sourceOf(cell: Cell): string {
  return joined(cell["source"]);
}

/** The cell's fields with another text, written in the way of the old one. */
export function withSource(cell: Cell, source: string): Cell {
  return { ...cell, source: typeof cell["source"] === "string" ? source : linesOf(source) };
}

export const idOf = (cell: Cell): string | undefined =>
  typeof cell["id"] === "string" ? cell["id"] : undefined;

/** By its id, else by its number as Read shows it: `3` or `cell-3`, counted from 1. */
export function findCell(cells: readonly Cell[], wanted: string): number | undefined {
  const byId = cells.findIndex((cell) => idOf(cell) === wanted);
  if (byId >= 0) return byId;
  const number = Number(/^(?:cell-)?(\d+)$/.exec(wanted)?.[1] ?? 0);
  return number >= 1 && number <= cells.length ? number - 1 : undefined;
}

/** A text or a list of texts, as nbformat has both. */
export function joined(value: unknown): string {
  if (typeof value === "string") return value;
  return Array.isArray(value) ? value.filter((part) => typeof part === "string").join("") : "";
}

export const linesOf = (source: string): string[] => source.match(/[^\n]*\n|[^\n]+$/g) ?? [];

function isCell(value: unknown): value is Cell {
  return isObject(value) && ["code", "markdown", "raw"].includes(String(value["cell_type"]));
}

function languageOf({ metadata }: Record<string, unknown>): string {
  if (!isObject(metadata)) return "python";
  const { language_info: info, kernelspec: kernel } = metadata;
  const name =
    (isObject(info) ? info["name"] : undefined) ?? (isObject(kernel) ? kernel["language"] : undefined);
  return typeof name === "string" ? name : "python";
}

/** `1.0` must not become `1`: whoever compares versions of the file would see a change that nobody made. */
function keepNumbers(_: string, value: unknown, { source }: Revived): unknown {
  return typeof value === "number" && source !== undefined ? sourceJson.rawJSON(source) : value;
}

type Revived = { readonly source?: string };
type SourceJson = {
  parse(text: string, revive: (key: string, value: unknown, context: Revived) => unknown): unknown;
  rawJSON(text: string): object;
};
/** The runtime has it; the library of types does not know it yet. */
const sourceJson = JSON as unknown as SourceJson;

function numberOf(value: unknown): number {
  return isObject(value) && "rawJSON" in value ? Number(value["rawJSON"]) : Number(value ?? 0);
}
