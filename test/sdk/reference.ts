// The names of the interface, read from the tables of its description.
import { readFileSync } from "node:fs";
import path from "node:path";

const file = path.join(import.meta.dirname, "../conformance/interface.md");

export const referenceText = readFileSync(file, "utf8");

/** The text between a heading and the next one of the same rank. */
export function sectionOf(text: string, heading: string): string {
  const lines = text.split("\n");
  const start = lines.findIndex((line) => line.startsWith(heading));
  const rank = heading.split(" ")[0] ?? "";
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => line.startsWith(`${rank} `) || line.startsWith("## "));
  return (start < 0 ? [] : rest.slice(0, end < 0 ? undefined : end)).join("\n");
}

/** The cells of a table's rows, without its head. */
export function rowsOf(section: string): string[][] {
  const rows = section
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .map((line) =>
      line
        .replaceAll("\\|", "¦")
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  const rule = rows.findIndex((cells) => cells.every((cell) => /^-+$/.test(cell)));
  return rows.slice(rule + 1);
}

/** The words in code of a line, or of the part of it that follows a mark. */
export const codesIn = (text: string): string[] =>
  [...text.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);

/** Plain names apart by commas or slashes, with what stands in brackets and behind them left out. */
export const namesIn = (text: string): string[] =>
  text
    .replace(/\([^)]*\)|\{[^}]*\}|\[[^\]]*\]|\*\*/g, "")
    .split(/[,/]/)
    .map((part) => /^\s*([A-Za-z_]\w*)/.exec(part)?.[1] ?? "")
    .filter(Boolean);
