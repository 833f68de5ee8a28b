/** Who runs, as procfs tells it. Beyond Linux there is no such table, and nobody is found. */
import { closeSync, existsSync, openSync, readdirSync, readSync } from "node:fs";
import { codeOf } from "../../kernel/fault.ts";
import { markVariable } from "./environment.ts";

export type ProcessEntry = {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** The moment of its birth, in ticks since the machine started: a number may be used again, both together never. */
  readonly born: number;
};

/** Where the table of the whole machine stands. A guard has one of its own, with numbers of its own. */
export const wholeTable = "/proc";

/** Where somebody ended or became another program while we looked, a child of theirs may have been missed. */
export const maxGlances = 3;

/** Becoming: it is about to be another program, and has no environment at this moment. */
export type ProcessMatch = "yes" | "no" | "ended" | "becoming";

type ProcessScanOptions = { readonly table?: string; readonly since?: number };

/**
 * A look at everyone who runs and was born no earlier than `since`: nobody needs to look into the environment of all the
 * others. It is taken in glances, each at once and not in turns of the event loop, so that as few as can be slip through;
 * a glance reads only whom the one before it has not seen.
 */
export class ProcessScan {
  readonly processes: ProcessEntry[] = [];
  readonly #table: string;
  readonly #since: number;
  readonly #passed = new Set<number>();
  readonly #reader = new ProcfsReader(environmentBytes);

  constructor({ table = wholeTable, since = 0 }: ProcessScanOptions = {}) {
    this.#table = table;
    this.#since = since;
  }

  /** Says whether all was calm: nobody was listed who had ended by the time it was read. */
  glance(): boolean {
    let calm = true;
    for (const pid of this.#newcomers()) {
      this.#passed.add(pid);
      const found = this.#reader.stat(`${this.#table}/${pid}/stat`);
      if (found === undefined) calm = false;
      else if (found.born >= this.#since) this.processes.push({ pid, ...found });
    }
    return calm;
  }

  /** Whether this one has the mark in its environment. */
  carries({ pid }: ProcessEntry, mark: string): ProcessMatch {
    const found = this.#reader.environment(`${this.#table}/${pid}/environ`, `${markVariable}=${mark}\0`);
    return found === "empty" ? this.#reader.whyEmpty(`${this.#table}/${pid}/stat`) : found;
  }

  #newcomers(): number[] {
    try {
      return readdirSync(this.#table)
        .map(Number)
        .filter((pid) => pid > 0 && !this.#passed.has(pid));
    } catch {
      return []; // No procfs here.
    }
  }
}

/**
 * Those who carry this mark, and of how many it could not be told, since they were becoming another program. What has
 * cleared its environment is not found.
 */
export function readMarked({ mark, ...place }: { mark: string } & ProcessScanOptions): {
  readonly processes: number;
  readonly unclear: number;
} {
  const look = new ProcessScan(place);
  let processes = 0;
  let unclear: ProcessEntry[] = [];
  for (let glance = 1; glance <= maxGlances; glance++) {
    const known = look.processes.length;
    let isCalm = look.glance();
    const asked = [...unclear, ...look.processes.slice(known)];
    unclear = [];
    for (const one of asked) {
      const answer = look.carries(one, mark);
      if (answer === "yes") processes++;
      if (answer === "becoming") unclear.push(one);
      if (answer === "ended") isCalm = false;
    }
    if (isCalm && unclear.length === 0) break;
  }
  return { processes, unclear: unclear.length };
}

/** When this process was born; 0, before everybody, where that cannot be known or it has ended. */
export const bornOf = (pid: number): number =>
  new ProcfsReader(statBytes).stat(`${wholeTable}/${pid}/stat`)?.born ?? 0;

/** Where we ourselves are: in the table, so that a namespace of our own is spoken of as the table does. */
export function ownPlace(): { readonly group: number; readonly session: number } {
  const { group = 0, session = 0 } = new ProcfsReader(statBytes).stat(`${wholeTable}/self/stat`) ?? {};
  return { group, session };
}

export const hasProcessTable = (): boolean => existsSync(`${wholeTable}/self/stat`);

/** It has some fifty numbers and a short name. */
const statBytes = 2_048;
/** What most environments fit into; a longer one is read piece by piece. */
const environmentBytes = 32_768;

/** Reads small files of procfs into one buffer. Their size is not asked for: procfs does not know it. */
class ProcfsReader {
  readonly #buffer: Buffer;

  constructor(bytes: number) {
    this.#buffer = Buffer.allocUnsafe(bytes);
  }

  /** Undefined for the dead, also for those whom nobody has fetched yet. */
  stat(file: string): Omit<ProcessEntry, "pid"> | undefined {
    const fields = this.#fields(file);
    if (!fields) return undefined;
    const [, parent = 0, group = 0, session = 0] = fields;
    return { parent, group, session, born: fields[19] ?? 0 };
  }

  /** `empty` where there is nothing to be read. */
  environment(file: string, entry: string): "yes" | "no" | "ended" | "empty" {
    const found = this.#whileOpen(file, (descriptor) => this.#search(descriptor, entry));
    if (typeof found === "string") return found;
    // It may not be read: another user's process, and so none of ours.
    return found.code === "EACCES" ? "no" : "ended";
  }

  /** An environment that is really empty starts where it ends. A thread of the kernel never has any. */
  whyEmpty(file: string): ProcessMatch {
    const kernelThread = 0x20_0000;
    const fields = this.#fields(file);
    if (!fields) return "ended";
    const [flags = 0, start = 0, end = 0] = [fields[6], fields[47], fields[48]];
    const isReallyEmpty = (end !== 0 && start === end) || (flags & kernelThread) !== 0;
    return isReallyEmpty ? "no" : "becoming";
  }

  /** The name in brackets may hold anything, brackets too; the fields start behind the last one. */
  #fields(file: string): readonly number[] | undefined {
    const bytes = this.#whileOpen(file, (descriptor) =>
      readSync(descriptor, this.#buffer, 0, this.#buffer.length, null),
    );
    if (typeof bytes !== "number") return undefined;
    const text = this.#buffer.toString("latin1", 0, bytes);
    const start = text.lastIndexOf(")") + 2;
    return text[start] === "Z" || text[start] === "X" ? undefined : text.slice(start).split(" ").map(Number);
  }

  /** A mark is a random one: it need not be told where an entry starts. */
  #search(descriptor: number, entry: string): "yes" | "no" | "empty" {
    const buffer = this.#buffer;
    for (let kept = 0, isFirst = true; ; isFirst = false) {
      const bytes = readSync(descriptor, buffer, kept, buffer.length - kept, null);
      if (bytes === 0) return isFirst ? "empty" : "no";
      const end = kept + bytes;
      if (buffer.subarray(0, end).includes(entry, 0, "latin1")) return "yes";
      // What stands across two pieces is found in the second.
      kept = Math.min(end, entry.length);
      buffer.copyWithin(0, end - kept, end);
    }
  }

  /** What was read, or the code of the error. */
  #whileOpen<T>(file: string, read: (descriptor: number) => T): T | { readonly code: string } {
    let descriptor: number | undefined;
    try {
      descriptor = openSync(file, "r");
      return read(descriptor);
    } catch (thrown) {
      return { code: codeOf(thrown) ?? "unknown" };
    } finally {
      if (descriptor !== undefined) closeSync(descriptor);
    }
  }
}
