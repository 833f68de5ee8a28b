/**
 * A crash after any event, in one process. When the chosen event is on disk the old world stands still: nothing more is
 * written, run or answered, and nothing is told. What was written can be opened again and gone on with.
 */
import type { Clock } from "../ports/clock.ts";
import type { Model, ModelEvent } from "../ports/model.ts";
import type { Shell, ShellRun } from "../ports/shell.ts";
import type { Log, Store } from "../ports/store.ts";
import type { Files, Workspace } from "../ports/workspace.ts";
import type { Durable } from "../protocol/event/durable.ts";

export type CrashPoint = {
  /** Resolves when the crash has come, what it left is on disk, and the leases are free. */
  readonly crashed: Promise<void>;
  readonly isDown: boolean;
  /** How many durable events were written. After a run without a crash: how many points there are. */
  readonly written: number;
  log(log: Log): Log;
  store(store: Store): Store;
  model(model: Model): Model;
  workspace(workspace: Workspace): Workspace;
  clock(clock: Clock): Clock;
  /** What a promise of the old world comes to: its value, or the crash, which leaves it open for ever. */
  outcome<T>(promise: Promise<T>): Promise<{ crashed: false; value: T } | { crashed: true }>;
};

/**
 * `after`: the number of durable events, counted over all logs, that reach the disk. The crash may fall inside a batch:
 * the start of the batch is then on disk, and nobody was told. With `Infinity` nothing crashes and events are counted.
 */
export function crashPoint({ after }: { after: number }): CrashPoint {
  let written = 0;
  let isDown = false;
  const { promise: crashed, resolve: announce } = Promise.withResolvers<void>();
  const open = new Set<Log>();

  async function append(log: Log, events: readonly Durable[]): Promise<void> {
    if (isDown) return stopped();
    const room = after - written;
    const fitting = events.slice(0, Math.max(0, room));
    written += fitting.length;
    // Decided before anything is awaited: what runs at the same time must not slip through.
    isDown = events.length >= room;
    if (!isDown) {
      await log.append(events);
      return unlessDown(undefined);
    }
    try {
      if (fitting.length > 0) await log.append(fitting);
      for (const other of open) await other.close();
    } finally {
      announce();
    }
    return stopped();
  }

  /** A value that arrives after the crash arrives nowhere. */
  async function unlessDown<T>(value: T | PromiseLike<T>): Promise<T> {
    await Promise.allSettled([value]);
    return isDown ? stopped() : value;
  }

  const guard = <A extends unknown[], T>(call: (...given: A) => Promise<T>) => {
    return (...given: A): Promise<T> => (isDown ? stopped() : unlessDown(call(...given)));
  };

  async function* guardStream<T, R>(start: () => AsyncIterator<T, R>): AsyncGenerator<T, R> {
    if (isDown) await stopped();
    const iterator = start();
    try {
      for (;;) {
        const step = await unlessDown(iterator.next());
        if (step.done) return step.value;
        yield step.value;
        if (isDown) await stopped();
      }
    } finally {
      // A reader that leaves early ends what it reads; one that is gone ends nothing.
      if (!isDown) await iterator.return?.();
    }
  }

  function wrapLog(log: Log): Log {
    open.add(log);
    return {
      session: log.session,
      get lastSeq() {
        return log.lastSeq;
      },
      get notices() {
        return log.notices;
      },
      append: (events) => append(log, events),
      read: (from) => guardStream(() => log.read(from)[Symbol.asyncIterator]()),
      close: guard(async () => {
        open.delete(log);
        await log.close();
      }),
    };
  }

  const wrapFiles = (files: Files): Files => ({
    describe: guard((path) => files.describe(path)),
    expand: guard((pattern) => files.expand(pattern)),
    read: guard((path, limits) => files.read(path, limits)),
    write: guard((path, bytes, basis) => files.write(path, bytes, basis)),
  });

  const wrapShell = (shell: Shell): Shell => ({
    run: (command, signal) => guardStream(() => shell.run(command, signal)),
    start: guard(async (command) => wrapRun(await shell.start(command))),
  });

  const wrapRun = (run: ShellRun): ShellRun => ({
    over: unlessDown(run.over),
    follow: () => guardStream(() => run.follow()),
    output: () => run.output(),
    saveTo: (file) => run.saveTo(file),
    goOn: () => run.goOn(),
    stop: guard(() => run.stop()),
    left: () => run.left(),
  });

  return {
    crashed,
    get isDown() {
      return isDown;
    },
    get written() {
      return written;
    },
    log: wrapLog,
    store: (store) => ({
      create: guard(async (id, place) => wrapLog(await store.create(id, place))),
      open: guard(async (id) => wrapLog(await store.open(id))),
      read: (id, from, tell) => guardStream(() => store.read(id, from, tell)[Symbol.asyncIterator]()),
      list: guard((filter) => store.list(filter)),
      fork: guard((id, copy) => store.fork(id, copy)),
      delete: guard((id) => store.delete(id)),
      location: (id) => store.location(id),
      leases: {
        take: guard((name) => store.leases.take(name)),
        isHeld: guard((name) => store.leases.isHeld(name)),
        holders: (names) => store.leases.holders(names),
      },
      artifacts: {
        put: guard((wanted, text) => store.artifacts.put(wanted, text)),
        append: guard((known, text) => store.artifacts.append(known, text)),
        get: guard((known) => store.artifacts.get(known)),
        list: guard((of) => store.artifacts.list(of)),
        file: (known) => store.artifacts.file(known),
      },
    }),
    model: (model) => ({
      info: (name) => model.info(name),
      stream: (request, signal) =>
        guardStream<ModelEvent, unknown>(() => model.stream(request, signal)[Symbol.asyncIterator]()),
    }),
    workspace: (workspace) => ({
      cwd: workspace.cwd,
      roots: workspace.roots,
      files: wrapFiles(workspace.files),
      search: {
        files: guard((wish, signal) => workspace.search.files(wish, signal)),
        text: guard((wish, signal) => workspace.search.text(wish, signal)),
      },
      documents: { pdfText: guard((wish, signal) => workspace.documents.pdfText(wish, signal)) },
      shell: wrapShell(workspace.shell),
    }),
    clock: (clock) => ({
      now: () => clock.now(),
      monotonicMs: () => clock.monotonicMs(),
      sleep: guard((ms, signal) => clock.sleep(ms, signal)),
    }),
    outcome: (promise) =>
      Promise.race([
        promise.then((value) => ({ crashed: false as const, value })),
        crashed.then(() => ({ crashed: true as const })),
      ]),
  };
}

/** The short form for one log: after its `after`-th event nothing is written or answered any more. */
export function crashAfter(log: Log, after: number): { log: Log; crashed: Promise<void> } {
  const point = crashPoint({ after });
  return { log: point.log(log), crashed: point.crashed };
}

/** A process that is gone neither returns nor throws. */
const stopped = (): Promise<never> => new Promise(() => undefined);
