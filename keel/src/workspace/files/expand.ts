/**
 * What bash makes of a pattern, found out from the folders as they are: names that start with a dot only where the
 * pattern does, a star never over a slash (Bash Reference Manual, "Filename Expansion"). Where a locale decides, every
 * name that any of them would give counts.
 */
import { lstatSync, realpathSync } from "node:fs";
import { opendir } from "node:fs/promises";
import { codeOf } from "../../kernel/fault.ts";
import { globMatcher } from "../../kernel/glob.ts";
import { isInside } from "../../kernel/path.ts";
import type { FoundName } from "../../ports/workspace.ts";
import { locate } from "./paths.ts";

/** Entries that are looked at for one pattern, and names that it may find. */
const maxEntries = 2_000;
const maxFound = 500;

/** Ends the search: it cannot be told. */
class Unsure {}

/** `own`: where Keel keeps its own files. */
export async function expandPattern(
  pattern: string,
  own: readonly string[],
): Promise<readonly FoundName[] | undefined> {
  const expansion = new Expansion(own);
  try {
    return await expansion.of(pattern.split("/").filter((name) => name !== "" && name !== "."));
  } catch (thrown) {
    if (thrown instanceof Unsure) return undefined;
    throw thrown;
  }
}

class Expansion {
  readonly #own: readonly string[];
  #looked = 0;
  /** Nothing lies below these. */
  readonly #files = new Set<string>();

  constructor(own: readonly string[]) {
    this.#own = own;
  }

  async of(names: readonly string[]): Promise<readonly FoundName[]> {
    // Its links mean another thing in every process.
    if (names[0] === "proc") throw new Unsure();
    const first = names.findIndex(isPattern);
    const start = first < 0 ? names.length : first;
    const stem = `/${names.slice(0, start).map(unescaped).join("/")}`;
    let reached = this.#stem(stem);
    for (const name of names.slice(start)) {
      reached = isPattern(name)
        ? await this.#matching(reached, name)
        : await this.#named(reached, unescaped(name));
      if (reached.length > maxFound) throw new Unsure();
    }
    const itself = `/${names.map(unescaped).join("/")}`;
    const isMissing = start < names.length && reached.every(({ path }) => path !== itself);
    return isMissing ? [...reached, ...this.#stem(itself)] : reached;
  }

  /** A path without patterns, where it exists. */
  #stem(path: string): FoundName[] {
    try {
      const found = lstatSync(path);
      const isWhole = !found.isSymbolicLink() && realpathSync.native(path) === path;
      return [this.#name(path, isWhole)];
    } catch (thrown) {
      return this.#nothing(thrown);
    }
  }

  async #named(folders: readonly FoundName[], name: string): Promise<FoundName[]> {
    const found: FoundName[] = [];
    for (const folder of folders) {
      if (this.#files.has(folder.path)) continue;
      this.#look();
      await this.#enter(folder);
      found.push(...this.#child(folder, name));
    }
    return found;
  }

  #child(folder: FoundName, name: string): FoundName[] {
    const path = childOf(folder, name);
    try {
      const isLink = lstatSync(path).isSymbolicLink();
      return [this.#name(path, folder.isPlain && !isLink && name !== "..")];
    } catch (thrown) {
      return this.#nothing(thrown);
    }
  }

  /** A link may lead into a process, and there it leads elsewhere for a command than for us. */
  async #enter({ path, isPlain }: FoundName): Promise<void> {
    if (isPlain) return;
    const { path: end } = await locate(path, { cwd: "/", roots: [] });
    if (isInside(end, ["/proc"])) throw new Unsure();
  }

  async #matching(folders: readonly FoundName[], pattern: string): Promise<FoundName[]> {
    const fits = matcherOf(pattern);
    const found: FoundName[] = [];
    for (const folder of folders) {
      if (this.#files.has(folder.path)) continue;
      await this.#enter(folder);
      // Older versions of bash find these two as well.
      for (const name of [".", ".."]) if (fits(name)) found.push(this.#name(childOf(folder, name), false));
      for await (const { bytes, isLink, isFile } of this.#entries(folder.path)) {
        if (!fits(bytes)) continue;
        const name = Buffer.from(bytes, "latin1").toString("utf8");
        // A name that is no text has no path that could be looked at.
        if (Buffer.from(name, "utf8").toString("latin1") !== bytes) throw new Unsure();
        const path = childOf(folder, name);
        if (isFile) this.#files.add(path);
        found.push(this.#name(path, folder.isPlain && !isLink));
        if (found.length > maxFound) throw new Unsure();
      }
    }
    return found;
  }

  /** Names as bytes, each a sign. */
  async *#entries(folder: string): AsyncGenerator<{ bytes: string; isLink: boolean; isFile: boolean }> {
    try {
      for await (const entry of await opendir(folder, { encoding: "latin1", bufferSize: 256 })) {
        this.#look();
        yield { bytes: entry.name, isLink: entry.isSymbolicLink(), isFile: entry.isFile() };
      }
    } catch (thrown) {
      this.#nothing(thrown);
    }
  }

  #name(path: string, isPlain: boolean): FoundName {
    return { path, isPlain: isPlain && !isInside(path, this.#own) };
  }

  #look(): void {
    this.#looked += 1;
    if (this.#looked > maxEntries) throw new Unsure();
  }

  /** What is not there, or is no folder, finds nothing; what is closed to us may be open to a command. */
  #nothing(thrown: unknown): never[] {
    const code = codeOf(thrown);
    if (code === "ENOENT" || code === "ENOTDIR" || code === "ENAMETOOLONG") return [];
    throw new Unsure();
  }
}

const childOf = ({ path }: FoundName, name: string): string => `${path === "/" ? "" : path}/${name}`;

const unescaped = (name: string): string => name.replace(/\\(.)/gsu, "$1");

const isPattern = (name: string): boolean => /[*?]|\[.*\]/s.test(name.replace(/\\./gsu, ""));

/** Whether a name, given as bytes, fits: as letters, as it does in most locales, or byte by byte, as it does in C. */
function matcherOf(pattern: string): (bytes: string) => boolean {
  const glob = widened(pattern);
  const byLetters = globMatcher([glob]);
  const byBytes = globMatcher([Buffer.from(glob, "utf8").toString("latin1")]);
  const findsHidden = /^\\?\./.test(pattern);
  return (bytes) => {
    if (bytes.startsWith(".") && !findsHidden) return false;
    return byBytes(bytes) || byLetters(Buffer.from(bytes, "latin1").toString("utf8"));
  };
}

/** Brackets other than a few plain letters are a matter of locales and versions: there anything fits. */
function widened(pattern: string): string {
  let glob = "";
  for (let at = 0; at < pattern.length; at++) {
    const sign = pattern[at] ?? "";
    const letters = /^\[[A-Za-z0-9_]+\]/.exec(pattern.slice(at))?.[0];
    const end = pattern.lastIndexOf("]");
    if (sign === "\\") {
      glob += pattern.slice(at, at + 2);
      at += 1;
    } else if (sign !== "[") glob += sign === "*" && glob.endsWith("*") ? "" : sign;
    else if (letters !== undefined) {
      glob += letters;
      at += letters.length - 1;
    } else if (end > at) {
      glob += glob.endsWith("*") ? "" : "*";
      at = end;
    } else glob += "\\[";
  }
  return glob;
}
