/** A notebook as Read shows it: its cells with their outputs, as text and as images, within bounds. */
import { isObject, type Json } from "../kernel/json.ts";
import type { ToolOutcome } from "../ports/tool.ts";
import { type ResultPart, text } from "../protocol/message.ts";
import { type Cell, idOf, joined, type Notebook, sourceOf } from "./notebook.ts";

const maxOutputCharacters = 10_000;
const maxImages = 20;
const maxImageCharacters = 5_000_000;
/** What programs are given of the cells, since that stands in the log. */
const maxDataCharacters = 256 * 1024;

type NotebookBounds = { readonly offset: number; readonly limit: number; readonly maxCharacters: number };
type Shown = { readonly words: string; readonly images: readonly ResultPart[] };

export function showNotebook(
  notebook: Notebook,
  { path, offset, limit, maxCharacters }: NotebookBounds & { path: string },
): Omit<ToolOutcome, "seen"> {
  const { cells, language } = notebook;
  const content: ResultPart[] = [];
  let characters = 0;
  let images = 0;
  let last = offset - 1;
  for (const [index, cell] of cells.slice(offset - 1, offset - 1 + limit).entries()) {
    const shown = showCell(cell, { number: offset + index, total: cells.length, language });
    // The first cell comes in any case: a window of one cell must show something.
    if (characters > 0 && characters + shown.words.length > maxCharacters) break;
    characters += shown.words.length;
    last += 1;
    const kept = shown.images.slice(0, maxImages - images);
    images += kept.length;
    const left = shown.images.length - kept.length;
    content.push(
      text(left > 0 ? `${shown.words}\n[${left} more images are not shown]` : shown.words),
      ...kept,
    );
  }
  const note =
    last < cells.length
      ? [text(`(Cells ${offset} to ${last} of ${cells.length}. Go on with offset ${last + 1}.)`)]
      : [];
  return {
    content: cells.length === 0 ? [text("(The notebook has no cells.)")] : [...content, ...note],
    display: { kind: "text", text: `${path}: ${cells.length} cells` },
    data: { type: "notebook", file: { filePath: path, cells: cellData(notebook) } },
  };
}

function showCell(
  cell: Cell,
  { number, total, language }: { number: number; total: number; language: string },
): Shown {
  const id = idOf(cell);
  const kind = cell.cell_type === "code" ? `code (${language})` : cell.cell_type;
  const head = `[cell ${number} of ${total}${id === undefined ? "" : `, id ${id}`}, ${kind}]`;
  const outputs = cell.cell_type === "code" && Array.isArray(cell["outputs"]) ? cell["outputs"] : [];
  const shown = outputs.filter(isObject).map(showOutput);
  return {
    words: [head, sourceOf(cell), ...shown.map(({ words }) => words)].filter(Boolean).join("\n"),
    images: shown.flatMap(({ images }) => images),
  };
}

function showOutput(output: Record<string, unknown>): Shown {
  const data = isObject(output["data"]) ? output["data"] : {};
  const words = [
    joined(output["text"]),
    joined(data["text/plain"]),
    joined(output["traceback"]) === "" ? "" : traceback(output),
  ].filter(Boolean);
  const images = ["image/png", "image/jpeg", "image/gif", "image/webp"].flatMap((mediaType): ResultPart[] => {
    const base64 = joined(data[mediaType]).replace(/\s+/g, "");
    return base64 === "" || base64.length > maxImageCharacters
      ? []
      : [{ type: "image", mediaType, data: base64 }];
  });
  if (words.length === 0 && images.length === 0) return { words: "", images };
  return { words: ["[output]", ...words.map(bounded)].join("\n"), images };
}

const traceback = ({ traceback: lines }: Record<string, unknown>): string =>
  withoutColours(Array.isArray(lines) ? lines.filter((line) => typeof line === "string").join("\n") : "");

/** A traceback is written for a terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control characters.
const withoutColours = (line: string): string => line.replace(/\u001b\[[0-9;]*m/g, "");

function bounded(words: string): string {
  const plain = withoutColours(words).replace(/\n$/, "");
  if (plain.length <= maxOutputCharacters) return plain;
  return `${plain.slice(0, maxOutputCharacters)}\n[${plain.length - maxOutputCharacters} more characters]`;
}

function cellData({ cells, language }: Notebook): Json[] {
  let room = maxDataCharacters;
  return cells.flatMap((cell, index) => {
    const source = sourceOf(cell);
    room -= source.length;
    if (room < 0) return [];
    const cell_id = idOf(cell) ?? `cell-${index + 1}`;
    return [
      { cellType: cell.cell_type, source, cell_id, ...(cell.cell_type === "code" ? { language } : {}) },
    ];
  });
}
