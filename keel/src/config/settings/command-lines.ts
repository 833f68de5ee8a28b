/**
 * The command lines in settings: which settings name programs, from which folder a relative one is meant, and which
 * files their words name. One table; a setting that is added and starts something gets its row here.
 */
import { lstatSync } from "node:fs";
import path from "node:path";
import { isObject } from "../../kernel/json.ts";
import { isInside } from "../../kernel/path.ts";
import { matchesPath, type SettingEntry } from "./entries.ts";
import { kindOf, realOf } from "./project-root.ts";

/** What is done with every command line: as a text for the shell, or as a program with its words. */
export type CommandLineMapper = {
  text(text: string): string;
  words(words: readonly string[]): readonly string[];
};

type CommandLineRow = {
  readonly names: readonly string[];
  map(value: Record<string, unknown>, mapper: CommandLineMapper): Record<string, unknown>;
};

const rows: readonly CommandLineRow[] = [
  {
    names: ["hooks.*"],
    map: (group, mapper) => ({
      ...group,
      hooks: listOf(group["hooks"]).map((hook) =>
        isObject(hook) && hook["type"] === "command" ? program(hook, mapper) : hook,
      ),
    }),
  },
  {
    names: ["mcpServers.*"],
    map: (server, mapper) =>
      typeof server["command"] === "string" ? program({ args: [], ...server }, mapper) : server,
  },
  {
    names: ["diagnostics"],
    map: (entry, { text }) => ({
      ...entry,
      ...Object.fromEntries(
        ["command", "check"].flatMap((name) => {
          const line = entry[name];
          return typeof line === "string" ? [[name, text(line)]] : [];
        }),
      ),
    }),
  },
];

/** With a list of arguments it is a program, without a line for the shell. */
function program(
  entry: Record<string, unknown>,
  { text, words }: CommandLineMapper,
): Record<string, unknown> {
  const { command, args } = entry;
  if (typeof command !== "string") return entry;
  if (!Array.isArray(args)) return { ...entry, command: text(command) };
  const [file, ...rest] = words([command, ...args.map(String)]);
  return { ...entry, command: file, args: rest };
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

type NamingEntry = Pick<SettingEntry, "path" | "value">;

/** The value with its command lines as the mapper makes them; any other value as it is. */
export function mapCommandLines({ path: names, value }: NamingEntry, mapper: CommandLineMapper): unknown {
  const row = rows.find((one) => matchesPath(one.names, names));
  return row && isObject(value) ? row.map(value, mapper) : value;
}

/** The words of all command lines of an entry. */
export function commandWords(entry: NamingEntry): string[] {
  const found: string[] = [];
  mapCommandLines(entry, {
    text: (text) => {
      found.push(...wordsIn(text));
      return text;
    },
    words: (words) => {
      found.push(...words, ...words.flatMap(wordsIn));
      return words;
    },
  });
  return [...new Set(found)].slice(0, maxWords);
}

/** More than a command line has. */
const maxWords = 200;

/**
 * Every word that a text could name a file by: quotes are taken off, what is quoted counts as a whole and by its words,
 * and so does what stands behind `=`. More than a shell would see, never less.
 */
function wordsIn(text: string): string[] {
  const pieces = text.slice(0, 20_000).match(/"[^"]*"|'[^']*'|[^\s;|&()<>"']+/g) ?? [];
  const plain = text.replace(/["'\\]/g, "").split(/[\s;|&()<>]+/);
  const bare = pieces.map((piece) => piece.replace(/^(["'])(.*)\1$/s, "$2"));
  return [...bare, ...plain, ...[...bare, ...plain].flatMap((word) => word.split("=").slice(1))].filter(
    (word) => word !== "" && !word.startsWith("-") && !word.includes("://"),
  );
}

/** From where a relative program of an entry is meant: a person's from their settings, a project's from its own folder. */
export function baseOf({ source, file }: Pick<SettingEntry, "source" | "file">): string | undefined {
  if (file === undefined || source === "flags" || source === "command-line") return undefined;
  const folder = path.dirname(file);
  const isInner = /^\.(?:keel|claude)$/.test(path.basename(folder));
  return (source === "project" || source === "local") && isInner ? path.dirname(folder) : folder;
}

export type NamedPlaces = {
  /** From where words are meant, each of which counts. */
  readonly bases: readonly string[];
  /** What `~`, `$HOME` and the names of the project's folder stand for. */
  readonly home: string;
  readonly project: string;
};

/**
 * The files that words name: those that exist, and those that would stand in a folder that exists. A folder counts only
 * behind a program that runs one.
 */
export function filesNamed(words: readonly string[], { bases, home, project }: NamedPlaces): string[] {
  const found = new Set<string>();
  for (const [at, word] of words.entries()) {
    const filled = word
      .replace(/^~(?=\/)/, home)
      .replace(/\$(?:HOME\b|\{HOME\})/g, home)
      .replace(/\$(?:\{(?:CLAUDE|KEEL)_PROJECT_DIR\}|(?:CLAUDE|KEEL)_PROJECT_DIR\b)/g, project);
    if (filled.length > 1_000 || filled.includes("$") || filled.includes("\0")) continue;
    for (const base of bases) {
      const place = path.resolve(base, filled);
      if (isNamed(place, { word: filled, before: words[at - 1] ?? "", bases })) found.add(place);
    }
  }
  return [...found];
}

/** Programs that run what a folder holds. */
const folderRunners = /^(?:node|nodejs|deno|bun|tsx|python[\d.]*|ruby|php)$/;

function isNamed(
  place: string,
  { word, before, bases }: { word: string; before: string; bases: readonly string[] },
): boolean {
  const real = realOf(place);
  switch (kindOf(real)) {
    case "other":
      return isFile(real);
    case "directory":
      return folderRunners.test(path.basename(before)) && !bases.some((base) => isInside(base, [real]));
    default:
      return word.includes("/") && kindOf(realOf(path.dirname(place))) === "directory";
  }
}

function isFile(place: string): boolean {
  try {
    return lstatSync(place).isFile();
  } catch {
    return false; // Gone meanwhile.
  }
}

/** A path as it is written, every link on it, and where it leads. */
export function waysTo(place: string): string[] {
  const ways = new Set([place, realOf(place)]);
  const parts = place.split("/");
  for (let length = 2; length < parts.length; length++) {
    const above = parts.slice(0, length).join("/");
    if (kindOf(above) === "link") ways.add(above);
  }
  return [...ways];
}
