/** The settings of other programs that are written in TOML: what counts of them as plain values, bounded. */
import { parse, TomlError } from "smol-toml";

export type TomlValue =
  | string
  | number
  | boolean
  | readonly TomlValue[]
  | { readonly [key: string]: TomlValue };

const maxLines = 5_000;
const maxDepth = 8;
/** A file with more lines that are wrong is another kind of file. */
const maxWrongLines = 20;

/** Lines that it does not understand are left out, and so are dates and what lies too deep. Never throws. */
export function readToml(text: string): { readonly [key: string]: TomlValue } {
  const lines = text.split(/\r?\n/, maxLines);
  for (let wrong = 0; wrong <= maxWrongLines; wrong++) {
    try {
      return plainTable(parse(lines.join("\n"), { maxDepth }), 0);
    } catch (error) {
      if (!(error instanceof TomlError)) throw error;
      // What is never closed is told at its end, which may be an empty line.
      const at = lines.findLastIndex((line, index) => index < error.line && line !== "");
      lines[at] = "";
    }
  }
  return {};
}

const plainTable = (table: object, depth: number): { [key: string]: TomlValue } =>
  Object.fromEntries(
    Object.entries(table).flatMap(([key, value]) =>
      plain(value, depth + 1).map((item): [string, TomlValue] => [key, item]),
    ),
  );

/** The value as a list of one, or of none where it is left out. */
function plain(value: unknown, depth: number): TomlValue[] {
  if (typeof value === "string" || typeof value === "boolean") return [value];
  if (typeof value === "number") return Number.isFinite(value) ? [value] : [];
  if (depth > maxDepth || typeof value !== "object" || value === null || value instanceof Date) return [];
  return [Array.isArray(value) ? value.flatMap((item) => plain(item, depth + 1)) : plainTable(value, depth)];
}
