/**
 * All processes of a command: its main process, their descendants, everyone in a session that one of them leads or
 * joined, and whatever carries its mark after it has left all of these (`setsid`, a double fork). Beyond Linux its
 * process group is all that is known.
 */
import type { Launched } from "./launch.ts";
import { hasProcessTable, type Process, readProcesses } from "./process-table.ts";

export class ProcessTree {
  /** The process that was started, the leader of a session of its own; 0 when it has ended. */
  readonly #pid: number;
  readonly #mark: string;
  readonly #since: number;
  readonly #role: Launched["role"];
  /** Whom we found once we know again, also when its parent is gone: by its number and the moment of its birth. */
  readonly #known = new Map<number, number>();
  /** A session consists of descendants of its leader, so all of it is ours if one of it is. */
  readonly #sessions: Set<number>;

  /** Without a main process, which has ended and whose number may be a stranger's by now, the mark tells. */
  constructor({
    pid = 0,
    mark,
    since,
    role = "program",
  }: {
    pid?: number;
    mark: string;
    since: number;
    role?: Launched["role"];
  }) {
    this.#pid = pid;
    this.#mark = mark;
    this.#since = since;
    this.#role = role;
    this.#sessions = new Set(pid === 0 ? [] : [pid]);
  }

  /** Sends a signal to everyone, and says whether there was anyone left. */
  signal(signal: NodeJS.Signals): boolean {
    // Looked up before anyone is hit: whose parent has died can no longer be told from a stranger.
    const members = this.#members();
    // By groups, since that hits all of one at once: who forks in a loop does not slip away between two signals.
    const groups = new Set([this.#pid, ...members.map(({ group }) => group)]);
    if (this.#pid === 0 || (this.#role === "doorkeeper" && signal !== "SIGKILL")) groups.delete(this.#pid);
    const hit = [...groups].filter((group) => send(-group, signal));
    // Dead members that nobody has fetched yet keep a group, so where the table can be read, it is believed.
    return hasProcessTable() ? members.length > 0 : hit.length > 0;
  }

  /** Whether anyone of it still runs: the dead whom nobody has fetched yet do not count. */
  get isAlive(): boolean {
    return hasProcessTable() ? this.#members().length > 0 : this.#pid > 0 && send(-this.#pid, 0);
  }

  #members(): Process[] {
    const everyone = readProcesses({ since: this.#since });
    const table = new Map(everyone.map((one) => [one.pid, one]));
    const found = everyone.filter((one) => this.#holds(one, table));
    for (const { pid, born, session } of found) {
      this.#known.set(pid, born);
      this.#sessions.add(session);
    }
    return everyone.filter(
      ({ pid, born, session }) => this.#known.get(pid) === born || this.#sessions.has(session),
    );
  }

  /** A member, or a descendant of one: a child that cleared its environment still has a parent. */
  #holds(one: Process, table: ReadonlyMap<number, Process>): boolean {
    const passed = new Set<number>();
    let at: Process | undefined = one;
    // The table was read while it changed: it could name a circle.
    while (at && !passed.has(at.pid)) {
      if (at.pid === this.#pid || at.mark === this.#mark || this.#sessions.has(at.session)) return true;
      if (this.#known.get(at.pid) === at.born) return true;
      passed.add(at.pid);
      at = table.get(at.parent);
    }
    return false;
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
