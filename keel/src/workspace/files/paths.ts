/**
 * What a path is. It is walked component by component as the kernel walks it, so that `..` behind a link means the
 * parent of the link's target, and so that the part that does not exist yet is known apart from the part that does.
 */
import { lstatSync, realpath, realpathSync } from "node:fs";
import { lstat, readlink } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { codeOf } from "../../kernel/fault.ts";
import { isInside } from "../../kernel/path.ts";
import type { PathFacts } from "../../ports/workspace.ts";
import { sayFileError } from "./file-errors.ts";

/** As many links as Linux follows before it says that they loop. */
const maxLinks = 40;

/** As long as a path may be for Linux. */
const maxPathBytes = 4_095;

export type WorkspaceRoots = {
  readonly cwd: string;
  readonly roots: readonly string[];
  /** Where Keel keeps its own files. */
  readonly own?: readonly string[];
  /** What of Keel's own this session was given by name, to be read: the place that a path of it lies in. */
  readonly given?: ((path: string) => string | undefined) | undefined;
  /** Files and folders that settings name as programs, with the words that say which setting. */
  readonly named?: (() => ReadonlyMap<string, string>) | undefined;
  /** Whether the kernel answers for all disks alone: then nobody has to wait in a thread. Absent: it may not. */
  readonly disksHere?: (() => boolean) | undefined;
};

/** Never throws: what cannot be decided lies in no root and says why. */
export async function locate(given: string, place: WorkspaceRoots): Promise<PathFacts> {
  const { cwd, roots, own = [] } = place;
  const refused = unusable(given);
  if (refused !== undefined) return hopeless(given, refused);
  const walk = new Walk(path.isAbsolute(given) ? given : `${cwd}/${given}`);
  const stopped = (await walk.leap(place.disksHere?.() ?? false)) ? undefined : await walk.toTheEnd();
  const problem = stopped ?? whyNoDirectory(given, walk);
  if (problem !== undefined) return { ...hopeless(walk.whole, problem), links: walk.passed.length > 0 };
  const isOwn = isInside(walk.at, own);
  return {
    path: walk.at,
    exists: walk.missing === 0,
    kind: walk.missing === 0 ? walk.kind : "missing",
    root: isOwn ? place.given?.(walk.at) : rootOf(walk.at, roots),
    links: walk.passed.length > 0,
    ...(walk.passed.length > 0 ? { passed: walk.passed } : {}),
    ...(isOwn ? { own: true } : {}),
    ...(isBesideHead(walk.at) ? { besideHead: true } : {}),
    ...namedBy(walk, place.named?.()),
  };
}

/** What settings name, by the end of the way and by every link on it; a directory also by what lies below. */
function namedBy(
  { at, passed }: Pick<Walk, "at" | "passed">,
  named: ReadonlyMap<string, string> | undefined,
): Pick<PathFacts, "named" | "namedBelow"> {
  if (named === undefined) return {};
  for (const [place, by] of named) if (isInside(at, [place]) || passed.includes(place)) return { named: by };
  const below = named.entries().find(([place]) => isInside(place, [at]));
  return below ? { namedBelow: below[1] } : {};
}

/** Settings beside a HEAD are a repository's to git, whatever the folder is called. */
const isBesideHead = (at: string): boolean =>
  /^config(?:\.worktree)?$/i.test(path.basename(at)) &&
  lstatSync(path.join(path.dirname(at), "HEAD"), { throwIfNoEntry: false }) !== undefined;

/** A path that ends with a slash names a directory, for the kernel too. */
function whyNoDirectory(given: string, walk: Walk): string | undefined {
  if (!/\/\.?$/.test(given) || (walk.kind === "directory" && walk.missing === 0)) return undefined;
  return walk.missing > 0
    ? `${given} ends with a slash, so it names a directory, and there is none.`
    : `${walk.at} is not a directory.`;
}

/** The innermost root that holds `target`, compared by whole components: `/a/bc` is not inside `/a/b`. */
export function rootOf(target: string, roots: readonly string[]): string | undefined {
  return roots
    .filter((root) => isInside(target, [root]))
    .sort((left, right) => right.length - left.length)[0];
}

/** Names that no file can have here, or that would mean something else than they say. */
function unusable(given: string): string | undefined {
  if (given === "") return "The path is empty.";
  if (given.includes("\0")) return "The path holds a NUL byte.";
  if (!given.isWellFormed()) return "The path is not valid text: it holds half of a surrogate pair.";
  if (given.startsWith("\\\\")) return "Network paths are not used.";
  if (Buffer.byteLength(given) > maxPathBytes) return "The path is too long.";
  if (/^~[^/]*\//.test(given) || given === "~")
    return `"~" is not expanded: give the whole path, or ./${given} for a file of that name.`;
  return undefined;
}

const hopeless = (given: string, problem: string): PathFacts => ({
  path: given,
  exists: false,
  kind: "other",
  root: undefined,
  links: false,
  problem,
});

class Walk {
  at = "/";
  kind: "file" | "directory" | "other" = "directory";
  readonly passed: string[] = [];
  /** How many of the last components of `at` do not exist. */
  missing = 0;
  #ahead: string[];

  constructor(absolute: string) {
    this.#ahead = components(absolute);
  }

  /** Where the walk stands, with what is still ahead. */
  get whole(): string {
    return path.join(this.at, ...this.#ahead);
  }

  /**
   * The whole way in two questions to the kernel, where it is as plain as most are: everything exists and nothing is a
   * link. False when it is not; then nothing has happened. The second is never waited for in a thread: the kernel has
   * just been there. Nor is the first where all disks are `here`.
   */
  async leap(here: boolean): Promise<boolean> {
    if (this.#ahead.includes("..") || this.#ahead[0] === "proc") return false;
    const end = `/${this.#ahead.join("/")}`;
    try {
      if ((here ? realpathSync.native(end) : await realPath(end)) !== end) return false;
      const found = lstatSync(end);
      if (found.isSymbolicLink()) return false;
      this.at = end;
      this.kind = kindOf(found);
      this.#ahead = [];
      return true;
    } catch {
      return false; // The walk finds out where it stops being plain, and says so.
    }
  }

  async toTheEnd(): Promise<string | undefined> {
    for (let name = this.#ahead.shift(); name !== undefined; name = this.#ahead.shift()) {
      const problem = await this.#step(name);
      if (problem === undefined) continue;
      this.#ahead.unshift(name);
      return problem;
    }
    return undefined;
  }

  async #step(name: string): Promise<string | undefined> {
    if (this.kind !== "directory" && this.missing === 0) return `${this.at} is not a directory.`;
    if (name === "..") {
      this.at = path.dirname(this.at);
      this.missing = Math.max(0, this.missing - 1);
      return undefined;
    }
    const next = path.join(this.at, name);
    // Its links mean another thing in every process, and some of its files never end.
    if (next === "/proc") return "Nothing under /proc is read or written as a file.";
    return this.missing > 0 ? this.#stepOverNothing(next) : this.#stepOnto(next);
  }

  #stepOverNothing(next: string): undefined {
    this.at = next;
    this.missing += 1;
  }

  async #stepOnto(next: string): Promise<string | undefined> {
    try {
      const found = await lstat(next);
      if (found.isSymbolicLink()) return await this.#follow(next);
      this.at = next;
      this.kind = kindOf(found);
      return undefined;
    } catch (thrown) {
      if (codeOf(thrown) === "ENOENT") return this.#stepOverNothing(next);
      return sayFileError(thrown, next);
    }
  }

  async #follow(link: string): Promise<string | undefined> {
    this.passed.push(link);
    if (this.passed.length > maxLinks) return `${link} is part of a loop of links.`;
    const target = await readlink(link);
    if (path.isAbsolute(target)) this.at = "/";
    this.#ahead.unshift(...components(target));
    return undefined;
  }
}

const kindOf = (found: { isFile(): boolean; isDirectory(): boolean }): Walk["kind"] =>
  found.isFile() ? "file" : found.isDirectory() ? "directory" : "other";

/** The C library's: one question, however deep the path is. */
const realPath = promisify(realpath.native);

const components = (text: string): string[] => text.split("/").filter((name) => name !== "" && name !== ".");
