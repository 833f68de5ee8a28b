/**
 * The tasks of a session that run beside its conversation. What is true of them stands in the log; here are the hands
 * on the work itself: to look at it, to wait for it, to stop it. A task that ends by itself comes back as input.
 */

import { taskNotice } from "../core/model-text.ts";
import { callsIn } from "../core/state/call-state.ts";
import type { SessionState } from "../core/state/state.ts";
import { hasNews, isRunning, isUnsettled } from "../core/state/task-state.ts";
import { teamWith } from "../core/state/team-state.ts";
import { over } from "../kernel/abort.ts";
import { graceMs } from "../kernel/deadline.ts";
import { fault } from "../kernel/fault.ts";
import type { Clock, Ids } from "../ports/clock.ts";
import type { CallTasks, SessionTasks, Task, TaskEnd, TaskOutputLocation, TaskWork } from "../ports/tasks.ts";
import { billSince } from "../protocol/bill.ts";
import type { DurableEvent } from "../protocol/event/durable.ts";
import { type TaskData, taskIdOfCall } from "../protocol/task.ts";
import { noBill } from "../protocol/usage.ts";

type By = NonNullable<TaskData["by"]>;

type HeldTask = {
  readonly work: TaskWork;
  /** Settles when the end is on record. */
  readonly settled: PromiseWithResolvers<void>;
  waiters: number;
  by: By;
  end?: TaskEnd;
};

export type TaskContext = {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly taskFile?: ((name: string) => Promise<string | undefined>) | undefined;
  /** `goes-on`: somebody else will take it up again. */
  readonly recover?: ((task: Task, team?: string) => Promise<TaskEnd | "goes-on">) | undefined;
  state(): SessionState;
  record(event: DurableEvent): void;
  saved(): Promise<void>;
  /** There may be something to do. */
  wake(): void;
};

/** Ended work whose output is still at hand. */
const maxKept = 20;
/** Stopping takes its grace time, and a moment for those who were killed. */
const maxStopMs = graceMs + 1_000;

export class TaskBoard implements SessionTasks {
  readonly #world: TaskContext;
  readonly #held = new Map<string, HeldTask>();
  readonly #awayWishes = new Map<string, () => void>();
  /** On record, and not in our hands yet. */
  readonly #starting = new Map<string, Promise<unknown>>();
  #isClosed = false;

  constructor(context: TaskContext) {
    this.#world = context;
  }

  forCall(callId: string): CallTasks {
    return {
      start: ({ id, ...about }, begin) => this.#start(id, { ...about, callId }, begin),
      move: (id) => this.#move(id),
      tell: (id) => this.#tell(id),
      sentAway: () => this.#untilSentAway(callId),
      list: () => [...this.#tasks.values()],
      find: (id) => this.#tasks.get(id),
      output: (id) => this.#held.get(id)?.work.output(),
      wait: (id, ms, signal) => this.#wait(id, ms, signal),
      stop: (id) => this.stop(id, "model"),
    };
  }

  announce(id: string): void {
    const task = this.#tasks.get(id);
    if (!task || !hasNews(task)) return;
    this.#announce(id);
    this.#world.wake();
  }

  async note(event: DurableEvent): Promise<void> {
    this.#world.record(event);
    await this.#world.saved();
  }

  /** Asks running calls to go on in the background: the named one, or all that can. Returns whom it asked. */
  sendAway(callId: string | undefined): string[] {
    const open = callsIn(this.#world.state().calls).filter(({ status }) => status === "started");
    const asked = open.map(({ use }) => use.id).filter((id) => callId === undefined || id === callId);
    const able = asked.filter((id) => this.#awayWishes.has(id));
    for (const id of able) {
      this.#awayWishes.get(id)?.();
      this.#awayWishes.delete(id);
    }
    return able;
  }

  /** Settles when it has ended. Undefined when there is no such task. */
  async stop(id: string, by: By): Promise<Task | undefined> {
    const held = this.#held.get(id);
    if (held && !held.end) {
      held.by = by;
      await held.work.stop();
      await this.#atMost(held.settled.promise, maxStopMs);
    }
    return this.#tasks.get(id);
  }

  /** Stops everything: a session takes its tasks with it. What only comes to life later is stopped then. */
  async close(): Promise<void> {
    await this.stopAll();
    for (const id of this.#starting.keys()) this.#giveUp(id);
    // One whose start failed while the log took nothing is on record as running, and nobody has it.
    for (const task of this.#tasks.values())
      if (isRunning(task) && !this.#held.has(task.id)) this.#giveUp(task.id);
    this.#isClosed = true;
  }

  /** Stops all that run now. What ends may still leave something behind. */
  async stopAll(): Promise<void> {
    if (this.#starting.size > 0) await this.#atMost(Promise.allSettled(this.#starting.values()), maxStopMs);
    const running = [...this.#held].filter(([, { end }]) => !end);
    await Promise.all(running.map(([id]) => this.stop(id, "shutdown")));
  }

  /**
   * Tasks that the log calls running and that nobody holds: the process that ran them is gone. And agents whose own log
   * could not be brought to its end before.
   */
  async lost(): Promise<DurableEvent[]> {
    const gone = [...this.#tasks.values()].filter((task) => isUnsettled(task) && !this.#held.has(task.id));
    const found = await Promise.all(
      gone.map(async (task): Promise<DurableEvent[]> => {
        // An agent may have come to its end before: its own log has what it reported.
        const team = teamWith(this.#world.state().team, task.id);
        const end = task.data.kind === "agent" ? await this.#world.recover?.(task, team) : undefined;
        if (end === "goes-on") return [];
        return isRunning(task) ? [lostEvent(task, end)] : settledLate(task, end);
      }),
    );
    return found.flat();
  }

  /** Puts ends on record that could not be: the log did not take them when they came. */
  report(): void {
    for (const [id, held] of this.#held) if (held.end) this.#record(id, held, held.end);
  }

  get #tasks(): ReadonlyMap<string, Task> {
    return this.#world.state().tasks;
  }

  #untilSentAway(callId: string): Promise<void> {
    const open = new Set(this.#world.state().calls.ids);
    for (const id of this.#awayWishes.keys()) if (!open.has(id)) this.#awayWishes.delete(id);
    return new Promise((resolve) => this.#awayWishes.set(callId, resolve));
  }

  async #move(id: string): Promise<Task | undefined> {
    const task = this.#tasks.get(id);
    if (task && isRunning(task))
      this.#world.record({ type: "task.changed", taskId: id, status: "running", data: { origin: "moved" } });
    await this.#world.saved();
    return this.#tasks.get(id);
  }

  #tell(id: string): void {
    const task = this.#tasks.get(id);
    if (task && hasNews(task))
      this.#world.record({ type: "task.changed", taskId: id, status: task.status, data: { told: true } });
  }

  async #start(
    known: string | undefined,
    data: TaskData,
    begin: (place: TaskOutputLocation) => Promise<TaskWork>,
  ): Promise<Task> {
    const fresh = data.kind === "agent" ? { letter: "a", digits: 16 } : { letter: "b", digits: 8 };
    const id = known ?? this.#ofCall(data) ?? this.#newId(fresh);
    const before = this.#tasks.get(id);
    // A disk that is full costs the file, not the task.
    const outputFile =
      before?.data.outputFile ?? (await this.#world.taskFile?.(`${id}.output`).catch(() => undefined));
    this.#world.record({
      type: "task.changed",
      taskId: id,
      status: "running",
      data: { ...data, ...(outputFile === undefined ? {} : { outputFile }) },
    });
    const begun = this.#begin(begin, { id, outputFile }, () => notStarted(id, data, before));
    this.#starting.set(id, begun);
    const work = await begun.finally(() => this.#starting.delete(id));
    if (this.#isClosed) void work.stop();
    const held: HeldTask = { work, settled: Promise.withResolvers(), waiters: 0, by: "itself" };
    this.#held.set(id, held);
    void work.over.then((end) => {
      held.end = end;
      this.#record(id, held, end);
      this.#letGoOfOldest();
    });
    // Just recorded, so it is there.
    return this.#tasks.get(id) as Task;
  }

  async #begin(
    begin: (place: TaskOutputLocation) => Promise<TaskWork>,
    place: TaskOutputLocation,
    failed: () => DurableEvent,
  ): Promise<TaskWork> {
    await this.#world.saved();
    // Whoever ended the session meanwhile has given it up.
    if (this.#isClosed) throw fault("session_closed");
    return begin(place).catch((thrown: unknown) => {
      if (this.#isClosed) throw thrown;
      this.#world.record(failed());
      // Nobody's call hears of one that was to go on after a crash.
      this.announce(place.id);
      throw thrown;
    });
  }

  #giveUp(id: string): void {
    const task = this.#tasks.get(id);
    if (!task || !isRunning(task)) return;
    const unsettled = task.data.kind === "agent" ? { unsettled: true } : {};
    const data: TaskData = { ...task.data, by: "shutdown", ...unsettled };
    try {
      this.#world.record({ type: "task.changed", taskId: id, status: "stopped", data });
    } catch {
      return; // The log takes nothing now; the next opening finds it as lost.
    }
  }

  #record(id: string, held: HeldTask, end: TaskEnd): void {
    const task = this.#tasks.get(id);
    if (!task || !isRunning(task) || this.#isClosed) return held.settled.resolve();
    const { status, ...rest } = end;
    // Who ended by itself before the stop reached it was not stopped.
    const by = status === "stopped" ? held.by : (end.by ?? "itself");
    const isTold = end.told || held.by === "model" || held.waiters > 0 || task.data.origin === "waited";
    const data: TaskData = { ...task.data, ...rest, by, ...(isTold ? { told: true } : {}) };
    try {
      this.#world.record({ type: "task.changed", taskId: id, status, data });
      if (by === "itself" && !isTold) this.#announce(id);
    } catch {
      return; // The log takes nothing now; `report` comes back to it.
    }
    held.settled.resolve();
    this.#world.wake();
  }

  /** What a command left behind was never waited for: its end is told with the next input, and starts no turn. */
  #announce(id: string): void {
    const task = this.#tasks.get(id);
    if (!task || task.data.origin === "left") return;
    this.#world.record({
      type: "input.accepted",
      input: {
        id: this.#world.ids.uuid(),
        content: [{ type: "text", text: taskNotice(task) }],
        from: { kind: "task", taskId: id },
        when: "now",
      },
    });
  }

  async #wait(id: string, ms: number, signal: AbortSignal): Promise<Task | undefined> {
    const held = this.#held.get(id);
    if (held && !held.end) {
      held.waiters++;
      await this.#atMost(held.settled.promise, ms, signal);
      held.waiters--;
    }
    return this.#tasks.get(id);
  }

  async #atMost(work: Promise<unknown>, ms: number, signal?: AbortSignal): Promise<void> {
    const done = new AbortController();
    const stop = (): void => done.abort(over);
    signal?.addEventListener("abort", stop, { once: true });
    if (signal?.aborted) stop();
    await Promise.race([work, this.#world.clock.sleep(ms, done.signal)]);
    signal?.removeEventListener("abort", stop);
    stop();
  }

  #letGoOfOldest(): void {
    const ended = [...this.#held].filter(([, { end }]) => end);
    for (const [id] of ended.slice(0, Math.max(0, ended.length - maxKept))) this.#held.delete(id);
  }

  /** Of a command that ran in its call so far. */
  #ofCall({ origin, callId }: TaskData): string | undefined {
    const id = origin === "moved" && callId !== undefined ? taskIdOfCall(callId) : undefined;
    return id === undefined || this.#tasks.has(id) ? undefined : id;
  }

  #newId({ letter, digits }: { letter: string; digits: number }): string {
    for (;;) {
      const id = `${letter}${this.#world.ids.uuid().replaceAll("-", "").slice(-digits)}`;
      if (!this.#tasks.has(id)) return id;
    }
  }
}

/** One that should have gone on has ended as it had before; its bill was brought then. */
function notStarted(id: string, data: TaskData, before: Task | undefined): DurableEvent {
  const summary = `${data.description ?? id}: could not be started`;
  const { bill: _, ...rest } = before?.data ?? data;
  const hadEnded = before !== undefined && !isRunning(before);
  return {
    type: "task.changed",
    taskId: id,
    status: hadEnded ? before.status : "failed",
    data: {
      ...rest,
      ...(hadEnded ? {} : { summary }),
      // One that was at work when its process ended: whoever opens the session next brings its log to its end.
      ...(before && isRunning(before) ? { unsettled: true } : {}),
      told: before === undefined || hadEnded,
    },
  };
}

/** A task of a process that has ended, and what is known of it. */
function lostEvent({ id, data }: Task, end: TaskEnd | undefined): DurableEvent {
  const summary = `${data.description ?? id}: lost, since the process that ran it has ended`;
  const { status = "stopped", ...rest } = end ?? { summary };
  const by = status === "stopped" ? "lost" : "itself";
  return { type: "task.changed", taskId: id, status, data: { ...data, ...rest, by } };
}

/** What is known now. A good end that was not known before is news; otherwise all has been said. */
function settledLate({ id, status, data, isTold }: Task, end: TaskEnd | undefined): DurableEvent[] {
  if (!end || end.unsettled) return [];
  // What is below may have cost more than was known above.
  const bill = end.bill ? { bill: billSince(end.bill, data.bill ?? noBill) } : {};
  const isNews = end.status === "completed" && status !== "completed";
  const { report, summary, toolUses } = end;
  const said = data.report === undefined || isNews ? { report, toolUses } : {};
  const known = { ...said, ...(isNews ? { summary, error: undefined, by: "itself" as const } : {}) };
  const told = { told: isTold && !isNews };
  return [
    {
      type: "task.changed",
      taskId: id,
      status: isNews ? "completed" : status,
      data: { ...known, ...bill, ...told, unsettled: false },
    },
  ];
}
