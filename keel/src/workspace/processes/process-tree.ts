/**
 * All processes of a command: its main process, their descendants, everyone in a session that one of them leads or
 * joined, and whatever carries its mark after it has left all of these (`setsid`, a double fork). Beyond Linux its
 * process group is all that is known.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Launched } from "./launch.ts";
import {
  bornOf,
  hasProcessTable,
  maxGlances,
  ownPlace,
  type ProcessEntry,
  ProcessScan,
} from "./process-table.ts";

/** Most end at once, so the first looks follow each other closely; who takes longer is looked for less often. */
const firstPauseMs = 1;
const longestPauseMs = 20;
/** Rounds of SIGKILL: a process that forks while it is looked for is found in the next one. */
const maxRounds = 100;

type ProcessTreeStart = {
  readonly pid?: number;
  readonly mark: string;
  readonly since: number;
  readonly role?: Launched["role"];
};

export class ProcessTree {
  /** The process that was started, the leader of a session of its own; 0 when it has ended. */
  readonly #pid: number;
  readonly #mark: string;
  readonly #since: number;
  readonly #role: Launched["role"];
  /** Whom we found once we know again, also when its parent is gone: by its number and the moment of its birth. */
  readonly #known = new Map<number, number>();
  /** Who did not carry the mark: whoever comes from a member has it from the first moment. */
  readonly #strangers = new Map<number, number>();
  /** A session consists of descendants of its leader, so all of it is ours if one of it is. */
  readonly #sessions: Set<number>;
  /** Of ourselves. A child that has just been forked is still in them: they are never taken for its own. */
  readonly #home = ownPlace();

  /** Without a main process, which has ended and whose number may be a stranger's by now, the mark tells. */
  constructor({ pid = 0, mark, since, role = "program" }: ProcessTreeStart) {
    this.#pid = pid;
    this.#mark = mark;
    this.#since = since;
    this.#role = role;
    this.#sessions = new Set(pid === 0 ? [] : [pid]);
  }

  /** Sends a signal to everyone, and says whether there was anyone left. */
  signal(signal: NodeJS.Signals): boolean {
    // Looked up before anyone is hit: whose parent has died can no longer be told from a stranger.
    const { members, isSure } = this.#look();
    // By groups, since that hits all of one at once: who forks in a loop does not slip away between two signals.
    const groups = new Set([this.#pid, ...members.map(({ group }) => group)]);
    if (this.#pid === 0 || (this.#role === "doorkeeper" && signal !== "SIGKILL")) groups.delete(this.#pid);
    groups.delete(this.#home.group);
    const alone = members.filter(({ group }) => group === this.#home.group).map(({ pid }) => pid);
    const hit = [...[...groups].map((group) => -group), ...alone].filter((target) => send(target, signal));
    // Dead members that nobody has fetched yet keep a group, so where the table can be read, it is believed.
    return hasProcessTable() ? members.length > 0 || !isSure : hit.length > 0;
  }

  /** Ends it: asked first, then killed. `left`: some do not die, as nobody does in an uninterruptible wait. */
  async end({ graceMs }: { graceMs: number }): Promise<"gone" | "left"> {
    if (!this.signal("SIGTERM")) return "gone";
    const endsAt = performance.now() + graceMs;
    // Those whom we know are asked for one by one; only when they are gone, everyone is looked at for others.
    while ((await this.#knownEnd(endsAt - performance.now())) === "ended") if (!this.isAlive) return "gone";
    for (let round = 0; round < maxRounds; round++) {
      if (!this.signal("SIGKILL")) return "gone";
      await this.#knownEnd(longestPauseMs);
    }
    return "left";
  }

  async #knownEnd(maxMs: number): Promise<"ended" | "late"> {
    const endsAt = performance.now() + maxMs;
    let pauseMs = firstPauseMs;
    for (; performance.now() < endsAt; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      await pause(Math.min(pauseMs, endsAt - performance.now()));
      if (!this.hasKnownAlive) return "ended";
    }
    return "late";
  }

  /** Whether anyone of it still runs: the dead whom nobody has fetched yet do not count. */
  get isAlive(): boolean {
    if (!hasProcessTable()) return this.#pid > 0 && send(-this.#pid, 0);
    const { members, isSure } = this.#look();
    return members.length > 0 || !isSure;
  }

  /** Whether one of those runs whom we have found already. That is known at once, without a look at everyone. */
  get hasKnownAlive(): boolean {
    if (!hasProcessTable()) return this.isAlive;
    return this.#known.entries().some(([pid, born]) => bornOf(pid) === born);
  }

  /** Not sure: somebody was becoming another program and could not be asked. */
  #look(): { members: readonly ProcessEntry[]; isSure: boolean } {
    const look = new ProcessScan({ since: this.#since });
    let isSure = true;
    for (let glance = 1; glance <= maxGlances; glance++) {
      let isCalm = look.glance();
      isSure = true;
      // An environment is the dearest thing to read: only of those whom nothing else makes ours, and never twice.
      for (const one of this.#othersOf(look.processes)) {
        if (this.#strangers.get(one.pid) === one.born) continue;
        const answer = look.carries(one, this.#mark);
        if (answer === "yes") this.#take(one);
        if (answer === "no") this.#strangers.set(one.pid, one.born);
        if (answer === "becoming") isSure = false;
        if (answer === "ended") isCalm = false;
      }
      if (isCalm && isSure) break;
    }
    this.#othersOf(look.processes);
    return { members: look.processes.filter((one) => this.#has(one)), isSure };
  }

  /** Takes in whom its place makes a member, and returns the rest. */
  #othersOf(everyone: readonly ProcessEntry[]): readonly ProcessEntry[] {
    const table = new Map(everyone.map((one) => [one.pid, one]));
    for (let others = everyone; ; ) {
      // A child that cleared its environment still has a parent.
      const found = others.filter((one) => this.#descends(one, table));
      for (const one of found) this.#take(one);
      // Each may bring a session, and that brings others.
      others = others.filter((one) => !this.#has(one));
      if (found.length === 0) return others;
    }
  }

  #take({ pid, born, session }: ProcessEntry): void {
    this.#known.set(pid, born);
    if (session !== this.#home.session) this.#sessions.add(session);
  }

  #has({ pid, born, session }: ProcessEntry): boolean {
    return pid === this.#pid || this.#known.get(pid) === born || this.#sessions.has(session);
  }

  /** Is a member, or has one among its forebears. */
  #descends(one: ProcessEntry, table: ReadonlyMap<number, ProcessEntry>): boolean {
    const passed = new Set<number>();
    let at: ProcessEntry | undefined = one;
    // The table was read while it changed: it could name a circle.
    while (at && !passed.has(at.pid)) {
      if (this.#has(at)) return true;
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
