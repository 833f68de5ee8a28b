/** Errors as they were found, and which of them are new. Words of a server are data: cut, and on one line. */
import { isObject } from "../../kernel/json.ts";
import type { Refused } from "../../kernel/result.ts";
import { oneLine, shorten } from "../../kernel/text.ts";

export type DiagnosticFinding = {
  /** What it is by, wherever in the file it has moved to. */
  readonly key: string;
  readonly text: string;
};

/** One who looks after some files: what a language server and a check command have in common. */
export type Checker = {
  /** Before a change: what is wrong by now, or nothing when that can be found out later. */
  prepare(file: string, within: AbortSignal): Promise<void>;
  look(
    change: { file: string; before: string | null; after: string },
    within: AbortSignal,
  ): Promise<CheckedChange>;
  close(): Promise<void>;
};

export type CheckedChange =
  | {
      readonly ok: true;
      readonly before: readonly DiagnosticFinding[];
      readonly after: readonly DiagnosticFinding[];
    }
  | Refused;

/** The errors of one text, or why nobody says them. */
export type CheckedText = { readonly ok: true; readonly errors: readonly DiagnosticFinding[] } | Refused;

const maxCharacters = 400;
const isErrorLevel = 1;

/** The errors of a server's list; warnings and hints are left out, and so is what has no form. */
export function errorsIn(items: unknown): DiagnosticFinding[] {
  if (!Array.isArray(items)) return [];
  return items.flatMap((item: unknown): DiagnosticFinding[] => {
    if (!isObject(item) || typeof item["message"] !== "string") return [];
    // Without a level it is for the client to say, and an error is what most mean.
    if ((item["severity"] ?? isErrorLevel) !== isErrorLevel) return [];
    const code = [item["source"], item["code"]]
      .filter((part) => typeof part === "string" || typeof part === "number")
      .join(" ");
    const said = `${shorten(oneLine(item["message"].trim().replaceAll(/\s*\n\s*/g, " ")), maxCharacters)}${code === "" ? "" : ` (${code})`}`;
    return [{ key: said, text: `${locationText(item["range"])}${said}` }];
  });
}

/** The lines of an output that are about a file: whatever form they have, they name it. */
export function linesAbout(output: string, names: readonly string[]): DiagnosticFinding[] {
  return output
    .split("\n")
    .filter((line) => names.some((name) => line.includes(name)))
    .map((line) => {
      const text = shorten(oneLine(line.trim()), maxCharacters);
      return { key: text.replaceAll(/\d+/g, "0"), text };
    });
}

/** Those that were not there before, each as often as it is more often there now. */
export function newIn(
  before: readonly DiagnosticFinding[],
  after: readonly DiagnosticFinding[],
): DiagnosticFinding[] {
  const known = new Map<string, number>();
  for (const { key } of before) known.set(key, (known.get(key) ?? 0) + 1);
  return after.filter(({ key }) => {
    const left = known.get(key) ?? 0;
    known.set(key, left - 1);
    return left <= 0;
  });
}

function locationText(range: unknown): string {
  const start = isObject(range) ? range["start"] : undefined;
  if (!isObject(start) || typeof start["line"] !== "number") return "";
  const column = typeof start["character"] === "number" ? `:${start["character"] + 1}` : "";
  return `${start["line"] + 1}${column} `;
}
