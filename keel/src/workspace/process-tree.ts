/**
 * All processes of a command: its process group, their descendants, and whatever carries its mark after it has left
 * both (`setsid`, a double fork). Beyond Linux the group is all that is known.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { markVariable } from "./environment.ts";

export class ProcessTree {
  /** The leader of the process group. */
  readonly #pid: number;
  readonly #mark: string;
  /** Whom we found once we know again, also when its parent is gone: by its number and the moment of its birth. */
  readonly #known = new Map<number, string>();

  constructor({ pid, mark }: { pid: number; mark: string }) {
    this.#pid = pid;
    this.#mark = mark;
  }

  /** Sends a signal to everyone, and says whether there was anyone left. */
  signal(signal: NodeJS.Signals): boolean {
    // Looked up before anyone is hit: whose parent has died can no longer be told from a stranger.
    const members = this.#members();
    const group = send(-this.#pid, signal);
    const strays = members.filter(({ group }) => group !== this.#pid).filter(({ pid }) => send(pid, signal));
    // Dead members that nobody has fetched yet keep a group, so where the table can be read, it is believed.
    return strays.length > 0 || (group && (members.length > 0 || !hasProcessTable()));
  }

  /** Whether anyone of the group still runs: the dead whom nobody has fetched yet do not count. */
  get isGroupAlive(): boolean {
    if (!send(-this.#pid, 0)) return false;
    return !hasProcessTable() || processes().some(({ group }) => group === this.#pid);
  }

  #members(): Process[] {
    const table = new Map(processes().map((one) => [one.pid, one]));
    const members = table
      .values()
      .filter((one) => this.#holds(one, table))
      .toArray();
    for (const { pid, born } of members) this.#known.set(pid, born);
    return members;
  }

  /** A member, or a descendant of one: a child that cleared its environment still has a parent. */
  #holds(one: Process, table: ReadonlyMap<number, Process>): boolean {
    const passed = new Set<number>();
    let at: Process | undefined = one;
    // The table was read while it changed: it could name a circle.
    while (at && !passed.has(at.pid)) {
      if (at.pid === this.#pid || at.group === this.#pid || at.mark === this.#mark) return true;
      if (this.#known.get(at.pid) === at.born) return true;
      passed.add(at.pid);
      at = table.get(at.parent);
    }
    return false;
  }
}

type Process = {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly born: string;
  readonly mark: string | undefined;
};

/** Everyone who still runs. Read at once and not in turns of the event loop, so that nobody slips through. */
function processes(): Process[] {
  try {
    return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? (readProcess(name) ?? []) : []));
  } catch {
    return []; // No procfs here.
  }
}

const hasProcessTable = (): boolean => existsSync("/proc/self/stat");

function readProcess(pid: string): Process | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name in brackets may hold anything, brackets too; the fields start behind the last one.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [state, parent, group] = fields;
    if (state === "Z" || state === "X") return undefined;
    return {
      pid: Number(pid),
      parent: Number(parent),
      group: Number(group),
      born: fields[19] ?? "",
      mark: markOf(pid),
    };
  } catch {
    return undefined; // Ended while we looked.
  }
}

function markOf(pid: string): string | undefined {
  try {
    const start = `${markVariable}=`;
    const entries = readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
    return entries.find((entry) => entry.startsWith(start))?.slice(start.length);
  } catch {
    return undefined; // Another user's process, and so none of ours.
  }
}

function send(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(target, signal);
    return true;
  } catch {
    return false; // Nobody there any more, or not ours.
  }
}
