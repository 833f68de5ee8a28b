/** Who runs, as procfs tells it. Beyond Linux there is no such table, and nobody is found. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { markVariable } from "./environment.ts";

export type Process = {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** The moment of its birth: a number may be used again, a number and its birth never. */
  readonly born: string;
  readonly mark: string | undefined;
};

/** Where the table of the whole machine stands. A guard has one of its own, with numbers of its own. */
export const wholeTable = "/proc";

/** Everyone who still runs. Read at once and not in turns of the event loop, so that nobody slips through. */
export function readProcesses(table: string = wholeTable): Process[] {
  try {
    return readdirSync(table).flatMap((name) => (/^\d+$/.test(name) ? (readProcess(table, name) ?? []) : []));
  } catch {
    return []; // No procfs here.
  }
}

export const hasProcessTable = (): boolean => existsSync(`${wholeTable}/self/stat`);

function readProcess(table: string, pid: string): Process | undefined {
  try {
    const stat = readFileSync(`${table}/${pid}/stat`, "latin1");
    // The name in brackets may hold anything, brackets too; the fields start behind the last one.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [state, parent, group, session] = fields;
    if (state === "Z" || state === "X") return undefined;
    return {
      pid: Number(pid),
      parent: Number(parent),
      group: Number(group),
      session: Number(session),
      born: fields[19] ?? "",
      mark: markOf(table, pid),
    };
  } catch {
    return undefined; // Ended while we looked.
  }
}

function markOf(table: string, pid: string): string | undefined {
  try {
    const start = `${markVariable}=`;
    const entries = readFileSync(`${table}/${pid}/environ`, "latin1").split("\0");
    return entries.find((entry) => entry.startsWith(start))?.slice(start.length);
  } catch {
    return undefined; // Another user's process, and so none of ours.
  }
}
