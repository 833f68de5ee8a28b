/** Who runs, as procfs tells it. Beyond Linux there is no such table, and nobody is found. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { markVariable } from "./environment.ts";

export type Process = {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** The moment of its birth, in ticks since the machine started: a number may be used again, both together never. */
  readonly born: number;
  readonly mark: string | undefined;
};

/** Where the table of the whole machine stands. A guard has one of its own, with numbers of its own. */
export const wholeTable = "/proc";

/** Where somebody ended or became another program while we looked, a child of theirs may have been missed. */
const mostLooks = 3;

/**
 * Everyone who still runs and was born no earlier than `since`: nobody needs to look into the environment of all the
 * others. Read at once and not in turns of the event loop, so that as few as can be slip through.
 */
export function readProcesses({ table = wholeTable, since = 0 }: Place = {}): Process[] {
  for (let look = 1; ; look++) {
    const seen = lookInto({ table, since });
    if (look === mostLooks || !seen.some(({ isRestless }) => isRestless))
      return seen.flatMap(({ process }) => process ?? []);
  }
}

type Place = { readonly table?: string; readonly since?: number };

function lookInto({ table, since }: Required<Place>): Seen[] {
  try {
    const names = readdirSync(table).filter((name) => /^\d+$/.test(name));
    return names.map((name) => readProcess({ table, pid: name, since }));
  } catch {
    return []; // No procfs here.
  }
}

/** When this process was born; 0, before everybody, where that cannot be known. */
export function bornOf(pid: number): number {
  try {
    return Number(fieldsOf(wholeTable, `${pid}`)[19] ?? 0);
  } catch {
    return 0; // No procfs here.
  }
}

export const hasProcessTable = (): boolean => existsSync(`${wholeTable}/self/stat`);

/** Restless: it was there when the table was listed, and has ended since, or is about to be another program. */
type Seen = { readonly process?: Process; readonly isRestless: boolean };

function readProcess({ table, pid, since }: Required<Place> & { pid: string }): Seen {
  try {
    const fields = fieldsOf(table, pid);
    const [state, parent, group, session] = fields;
    const born = Number(fields[19] ?? 0);
    if (born < since) return { isRestless: false };
    if (state === "Z" || state === "X") return { isRestless: true };
    const environment = environmentOf(table, pid);
    const process: Process = {
      pid: Number(pid),
      parent: Number(parent),
      group: Number(group),
      session: Number(session),
      born,
      mark: markIn(environment),
    };
    return { process, isRestless: environment === "" };
  } catch {
    return { isRestless: true }; // Ended while we looked.
  }
}

/** The name in brackets may hold anything, brackets too; the fields start behind the last one. */
function fieldsOf(table: string, pid: string): string[] {
  const stat = readFileSync(`${table}/${pid}/stat`, "latin1");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

/** Undefined where it may not be read: another user's process, and so none of ours. */
function environmentOf(table: string, pid: string): string | undefined {
  try {
    return readFileSync(`${table}/${pid}/environ`, "latin1");
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown && thrown.code === "EACCES") return undefined;
    throw thrown;
  }
}

function markIn(environment: string | undefined): string | undefined {
  const start = `${markVariable}=`;
  const entry = environment?.split("\0").find((one) => one.startsWith(start));
  return entry?.slice(start.length);
}
