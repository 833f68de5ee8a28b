// Rules about the size and the shape of files: each takes what was read of the sources and returns what is wrong.
import path from "node:path";
import type { Source } from "./source.ts";

/** Code without imports and comments. */
export const MAX_CODE_LINES = 300;
/** A file below this with one reader belongs into that reader. */
export const CRUMB_LINES = 30;

/** Folders in which every file is one thing of a kind: a tool, a slash command, an example. */
const families = ["keel/src/tools/", "keel/src/hosts/cli/commands/"];

export function longFiles(sources: readonly Source[]): string[] {
  return sources
    .filter(({ codeLines }) => codeLines > MAX_CODE_LINES)
    .map(({ file, codeLines }) => `${file}: ${codeLines} lines of code`);
}

/** The folder that has a budget: `keel/src/engine`, `keel/src/hosts/cli`. */
export function roomOf(file: string): string {
  if (file.startsWith("web/")) return "web";
  const parts = file.split("/").slice(2);
  return parts[0] === "hosts" ? parts.slice(0, 2).join("/") : (parts[0] ?? "");
}

/** Small files whose one importer is their neighbour, with enough room in it. */
export function crumbs(sources: readonly Source[]): { file: string; importer: string }[] {
  const importers = new Map<string, Set<Source>>();
  const late = new Set<string>();
  const tested = new Set<string>();
  for (const source of sources)
    for (const { specifier, how } of source.imports) {
      if (!specifier.startsWith(".")) continue;
      const target = path.posix.join(path.posix.dirname(source.file), specifier);
      if (how === "dynamic") late.add(target);
      if (source.file.endsWith(".test.ts")) tested.add(target);
      else if (source.file.startsWith("keel/src/"))
        importers.set(target, (importers.get(target) ?? new Set()).add(source));
    }
  return sources.flatMap(({ file, codeLines, isBarrel }) => {
    const [importer, ...others] = importers.get(file) ?? [];
    if (!file.startsWith("keel/src/") || !importer || others.length > 0 || isBarrel || importer.isBarrel)
      return [];
    // What is loaded late must stay apart; what has a test of its own is an idea of its own.
    if (codeLines >= CRUMB_LINES || late.has(file) || tested.has(file)) return [];
    if (families.some((folder) => file.startsWith(folder))) return [];
    if (roomOf(importer.file) !== roomOf(file) || importer.codeLines + codeLines > MAX_CODE_LINES) return [];
    return [{ file, importer: importer.file }];
  });
}

export function spreadLiterals(sources: readonly Source[]): string[] {
  return sources.flatMap(({ file, spreadLiterals }) => spreadLiterals.map((line) => `${file}:${line}`));
}

/** Names of types that are declared in more than one file: a type name has one meaning in the whole tree. */
export function typesDeclaredTwice(sources: readonly Source[]): string[] {
  const places = new Map<string, string[]>();
  // The tools of the interface have its names for them, and ours have their own.
  for (const { file, types } of sources)
    for (const name of file.startsWith("keel/src/sdk/tool-shapes/") ? [] : types)
      places.set(name, [...(places.get(name) ?? []), file]);
  return [...places]
    .filter(([, files]) => files.length > 1)
    .map(([name, files]) => `${name}: ${files.join(", ")}`);
}

/** What a module keeps for itself while the process runs: whatever changes belongs to a home or a session. */
export function moduleState(sources: readonly Source[]): string[] {
  return sources.flatMap(({ file, state }) => state.map(({ name, line }) => `${file}:${line}: ${name}`));
}
