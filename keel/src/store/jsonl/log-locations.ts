/** Where logs stand: `<home>/projects/<key>/<session id>.jsonl`, and `<session id>/` beside it for what belongs to it. */
import path from "node:path";
import { codeOf } from "../../kernel/fault.ts";
import { fingerprint } from "../../kernel/text.ts";
import { type FileLayer, isMissing, makeDirectoryNow } from "./files.ts";
import { isSessionId } from "./names.ts";
import { unreadable } from "./reasons.ts";

const PROJECTS = "projects";
const LOG = ".jsonl";
/** A name of a directory holds 255 bytes; this much of the path is enough for a person. */
const KEY_TAIL_CHARACTERS = 60;
const AT_ONCE = 64;

export type LogLocation = { readonly session: string; readonly path: string };

/** The names of the logs in a directory. What else is known of them is made when it is wanted: there may be very many. */
export type LogNames = { readonly directory: string; readonly names: readonly string[] };

export const sessionOf = (name: string): string => name.slice(0, -LOG.length);

/** Where the log of a session would stand in the home; those of agents too when they are wanted. */
export type FindLog = (session: string, withAgents: boolean) => Promise<string | undefined>;

export class LogLocations {
  readonly #files: FileLayer;
  readonly #projects: string;
  /** Where sessions were last seen; looked at again before it is believed. */
  readonly #seen = new Map<string, string>();
  readonly #ask: FindLog | undefined;

  constructor(home: string, files: FileLayer, ask?: FindLog) {
    this.#files = files;
    this.#ask = ask;
    this.#projects = path.join(home, PROJECTS);
  }

  /** The project's directory, which may not exist yet. */
  async directoryOf(cwd: string): Promise<string> {
    // A project that was removed still has its sessions under the name it had.
    const real = await this.#files.realPath(cwd).catch(() => path.resolve(cwd));
    return path.join(this.#projects, projectKey(real));
  }

  /** Makes the project's directory, or the one of the parent's agents, and returns where the log of a new session goes. */
  async newLog(
    session: string,
    { cwd, parent }: { cwd: string; parent?: string | undefined },
  ): Promise<{ readonly log: string; readonly durable: Promise<unknown> }> {
    const directory = parent === undefined ? await this.directoryOf(cwd) : agentsOf(parent);
    const { durable } = await makeDirectoryNow(this.#files, directory);
    const { kind } = await this.#files.facts(directory);
    if (kind !== "directory") throw unreadable(directory, new Error("it is not a directory"));
    return { log: this.remember(path.join(directory, `${session}${LOG}`), session), durable };
  }

  /** Where the log of a session stands, if it does. Whatever stands there: a link is found and refused later. */
  async find(session: string): Promise<string | undefined> {
    const own = (await this.findOwn(session)) ?? (await this.#ask?.(session, true));
    if (own !== undefined) return this.remember(own, session);
    return this.#findAgent(session, await this.directories());
  }

  /** As `find`, without a look at the agents of all sessions. */
  async findOwn(session: string): Promise<string | undefined> {
    const seen = this.#seen.get(session);
    if (seen && (await this.#exists(seen))) return seen;
    this.#seen.delete(session);
    const told = await this.#ask?.(session, false);
    if (told !== undefined) return this.remember(told, session);
    return this.#findIn(session, await this.directories());
  }

  async #findIn(session: string, directories: readonly string[]): Promise<string | undefined> {
    const files = directories.map((directory) => path.join(directory, `${session}${LOG}`));
    for (let from = 0; from < files.length; from += AT_ONCE) {
      const some = files.slice(from, from + AT_ONCE);
      const exist = await Promise.all(some.map((file) => this.#exists(file)));
      const found = some.find((_, index) => exist[index]);
      if (found) return this.remember(found, session);
    }
    return undefined;
  }

  /** Agents stand below their parents, and may have some of their own. */
  async #findAgent(session: string, directories: readonly string[], depth = 1): Promise<string | undefined> {
    const below: string[] = [];
    for (const directory of directories)
      for (const name of await this.#names(directory))
        if (isSessionId(name)) below.push(path.join(directory, name, AGENTS));
    if (below.length === 0 || depth > MAX_DEPTH) return undefined;
    return (await this.#findIn(session, below)) ?? (await this.#findAgent(session, below, depth + 1));
  }

  findNow(session: string): string | undefined {
    const seen = this.#seen.get(session);
    if (seen && this.#files.existsNow(seen)) return seen;
    if (!this.#files.existsNow(this.#projects)) return undefined;
    return this.#files
      .namesNow(this.#projects)
      .map((key) => path.join(this.#projects, key, `${session}${LOG}`))
      .find((file) => this.#files.existsNow(file));
  }

  async directories(): Promise<string[]> {
    const keys = await this.#names(this.#projects);
    return keys.map((key) => path.join(this.#projects, key));
  }

  /** The logs of one project, in no order. */
  async logsIn(directory: string): Promise<LogNames> {
    const names = await this.#unsorted(directory);
    return { directory, names: names.filter((name) => name.endsWith(LOG) && isSessionId(sessionOf(name))) };
  }

  remember(file: string, session: string): string {
    this.#seen.set(session, file);
    return file;
  }

  forget(session: string): void {
    this.#seen.delete(session);
  }

  async #exists(file: string): Promise<boolean> {
    return (await this.#files.facts(file).catch(unlessThere(file))) !== undefined;
  }

  async #names(directory: string): Promise<string[]> {
    return (await this.#unsorted(directory)).sort();
  }

  async #unsorted(directory: string): Promise<string[]> {
    return (await this.#files.names(directory).catch(unlessThere(directory))) ?? [];
  }
}

const unlessThere = (place: string) => (thrown: unknown) => {
  if (isMissing(thrown) || codeOf(thrown) === "ENOTDIR") return undefined;
  throw unreadable(place, thrown);
};

/** Where the logs of a home stand that are no files. */
export const logDatabase = (home: string): string => path.join(home, "sessions.db");

/** Whether a path is where the log of a session stands, or one that is being made. */
export const isLogIn = (home: string, place: string): boolean =>
  place.startsWith(path.join(home, PROJECTS) + path.sep) && /\.jsonl(?:\.part)?$/.test(place);

/** The end of the path, readable, and enough of a hash to keep equal ends apart. */
export function projectKey(realPath: string): string {
  const slug = realPath.replace(/[^A-Za-z0-9]+/g, "-").replace(/^-|-$/g, "");
  const hash = fingerprint(realPath).slice(0, 8);
  return [slug.slice(-KEY_TAIL_CHARACTERS).replace(/^-/, ""), hash].filter(Boolean).join("-");
}

/** Where the logs of a session's agents stand. */
export const agentsOf = (log: string): string => path.join(folderOf(log), AGENTS);

const AGENTS = "agents";
/** More than agents may start each other. */
const MAX_DEPTH = 8;

/** What belongs to a session beside its log. */
export const folderOf = (log: string): string => log.slice(0, -LOG.length);

/** Where stands what a log was folded to, and what is left of one that was being written. */
export const foldCacheOf = (log: string): string => `${folderOf(log)}${KEPT}`;
export const unfinishedOf = (kept: string): string => `${kept}${UNFINISHED}`;
export const isFoldCache = (name: string): boolean =>
  name.endsWith(KEPT) || name.endsWith(unfinishedOf(KEPT));
export const isFoldCacheOf = (log: string, name: string): boolean =>
  name.startsWith(path.basename(foldCacheOf(log)));

const KEPT = ".kept";
const UNFINISHED = ".new";

/** Whether the name is of a copy that was kept of a damaged log. */
export const isCopyOf = (log: string, name: string): boolean =>
  name.startsWith(`${path.basename(log)}${DAMAGED}`);

export const damagedCopy = (log: string, number: number): string => `${log}${DAMAGED}${number}`;

const DAMAGED = ".damaged-";
