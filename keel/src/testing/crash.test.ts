import { describe, expect, test } from "vitest";
import type { Log } from "../ports/store.ts";
import type { Durable } from "../protocol/event/durable.ts";
import { crashAfter, crashPoint } from "./crash.ts";
import { fakeClock } from "./fake-clock.ts";
import { memoryWorkspace } from "./memory-workspace.ts";
import { reply } from "./reply.ts";
import { scriptedModel } from "./scripted-model.ts";

const event = (seq: number): Durable => ({ seq, at: 0, session: "s", type: "context.cleared" });
const events = (...seqs: number[]) => seqs.map(event);

/** A log whose disk the test can look at. */
function diskLog() {
  const disk: number[] = [];
  let open = true;
  const log: Log = {
    session: "s",
    notices: [],
    get lastSeq() {
      return disk.length;
    },
    async append(given) {
      await Promise.resolve();
      disk.push(...given.map(({ seq }) => seq));
    },
    async *read(after = 0) {
      yield* events(...disk.filter((seq) => seq > after));
    },
    async close() {
      open = false;
    },
  };
  return { log, disk, isOpen: () => open };
}

/** Whether a promise settles within everything that can happen now. */
async function settles(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol("pending");
  const later = new Promise((resolve) => setTimeout(() => resolve(pending), 5));
  return (await Promise.race([promise.catch(() => undefined), later])) !== pending;
}

describe("a crash after an event", () => {
  test("comes when that event is on disk, and not before", async () => {
    const { log, disk } = diskLog();
    const crashing = crashAfter(log, 3);
    await crashing.log.append(events(1));
    await crashing.log.append(events(2));
    expect(await settles(crashing.crashed)).toBe(false);
    expect(await settles(crashing.log.append(events(3)))).toBe(false);
    await crashing.crashed;
    expect(disk).toEqual([1, 2, 3]);
  });

  test("may fall inside a batch, of which a start is then on disk", async () => {
    const { log, disk } = diskLog();
    const { log: wrapped, crashed } = crashAfter(log, 3);
    await wrapped.append(events(1, 2));
    void wrapped.append(events(3, 4, 5));
    await crashed;
    expect(disk).toEqual([1, 2, 3]);
  });

  test("may come before the first event", async () => {
    const { log, disk } = diskLog();
    const { log: wrapped, crashed } = crashAfter(log, 0);
    void wrapped.append(events(1));
    await crashed;
    expect(disk).toEqual([]);
  });

  test("lets nothing through that was under way at the same time", async () => {
    const { log, disk } = diskLog();
    const { log: wrapped, crashed } = crashAfter(log, 2);
    const first = wrapped.append(events(1));
    const second = wrapped.append(events(2));
    const third = wrapped.append(events(3));
    await crashed;
    expect(disk).toEqual([1, 2]);
    expect(await Promise.all([first, second, third].map(settles))).toEqual([false, false, false]);
  });

  test("gives the lease back, so that the next one can open, and ends all answers", async () => {
    const { log, disk, isOpen } = diskLog();
    const { log: wrapped, crashed } = crashAfter(log, 1);
    void wrapped.append(events(1));
    await crashed;
    expect(isOpen()).toBe(false);
    expect(await settles(wrapped.append(events(2)))).toBe(false);
    expect(await settles(wrapped.close())).toBe(false);
    expect(await settles(wrapped.read()[Symbol.asyncIterator]().next())).toBe(false);
    const reopened: number[] = [];
    for await (const { seq } of log.read()) reopened.push(seq);
    expect(reopened).toEqual(disk);
  });

  test("is told although the last write failed", async () => {
    const { log } = diskLog();
    const { log: wrapped, crashed } = crashAfter(
      { ...log, append: () => Promise.reject(new Error("full")) },
      1,
    );
    await expect(wrapped.append(events(1))).rejects.toThrow("full");
    await crashed;
  });
});

describe("a crash point", () => {
  test("that never comes only counts", async () => {
    const { log, disk } = diskLog();
    const point = crashPoint({ after: Number.POSITIVE_INFINITY });
    const wrapped = point.log(log);
    await wrapped.append(events(1, 2));
    expect([wrapped.session, wrapped.lastSeq, wrapped.notices]).toEqual(["s", 2, []]);
    await wrapped.append(events(3));
    await wrapped.close();
    expect([point.written, point.isDown, disk.length]).toEqual([3, false, 3]);
  });

  test("tells the value of what came before it, and the crash of what did not", async () => {
    const { log } = diskLog();
    const point = crashPoint({ after: 2 });
    const wrapped = point.log(log);
    expect(await point.outcome(wrapped.append(events(1)).then(() => "ok"))).toEqual({
      crashed: false,
      value: "ok",
    });
    expect(await point.outcome(wrapped.append(events(2)))).toEqual({ crashed: true });
    await expect(crashPoint({ after: 1 }).outcome(Promise.reject(new Error("no")))).rejects.toThrow("no");
  });

  test("stops model, files, shell and clock, and their effects", async () => {
    const clock = fakeClock();
    const place = memoryWorkspace({ shell: { ls: { output: "a" } }, files: { a: "1" }, clock });
    const model = scriptedModel({ replies: [], otherwise: reply("hello") }, { check: "none" });
    const { log } = diskLog();
    const point = crashPoint({ after: 1 });
    const context = {
      model: point.model(model),
      workspace: point.workspace(place),
      clock: point.clock(clock),
    };
    const signal = new AbortController().signal;
    const request = { model: "m", system: [], tools: [], messages: [], maxOutputTokens: 1, session: "s" };
    const stream = () =>
      context.model.stream({ ...request, thinking: { kind: "off" } }, signal)[Symbol.asyncIterator]();
    const command = { text: "ls", cwd: "/project", timeoutMs: 10, maxBytes: 10 };

    const before = stream();
    expect(await before.next()).toMatchObject({ value: { type: "start" } });
    expect(await context.workspace.files.write("b", new Uint8Array([50]))).toMatchObject({ ok: true });
    const sleeping = context.clock.sleep(5, signal);
    void point.log(log).append(events(1));
    await point.crashed;
    await clock.advance(5);

    const calls = [
      sleeping,
      before.next(),
      stream().next(),
      context.clock.sleep(0, signal),
      context.workspace.files.read("a", { maxBytes: 1 }),
      context.workspace.files.describe("a"),
      context.workspace.files.write("c", new Uint8Array()),
      context.workspace.shell.run(command, signal).next(),
    ];
    expect(await Promise.all(calls.map(settles))).toEqual(calls.map(() => false));
    expect(place.effects).toEqual(["write /project/b"]);
    expect(model.requests).toHaveLength(1);
    expect(context.clock.monotonicMs()).toBe(5);
  });

  test("passes everything on before it comes, also the end of a stream that is left early", async () => {
    const point = crashPoint({ after: 10 });
    let ended = false;
    async function* numbers() {
      try {
        yield { text: "1" };
        yield { text: "2" };
      } finally {
        ended = true;
      }
      return { exitCode: 0, signal: null, timedOut: false, interrupted: false, output: "", omittedBytes: 0 };
    }
    const memory = memoryWorkspace();
    const place = { ...memory, shell: { ...memory.shell, run: numbers } };
    const { shell } = point.workspace(place);
    const command = { text: "x", cwd: "/", timeoutMs: 1, maxBytes: 1 };
    for await (const chunk of shell.run(command, new AbortController().signal)) {
      expect(chunk.text).toBe("1");
      break;
    }
    expect(ended).toBe(true);
  });

  test("wraps a store: its logs count together", async () => {
    const first = diskLog();
    const second = diskLog();
    const unused = () => Promise.reject(new Error("not used here"));
    const point = crashPoint({ after: 3 });
    const store = point.store({
      create: async () => first.log,
      open: async () => second.log,
      read: (_, after) => first.log.read(after),
      list: async () => [],
      fork: unused,
      delete: unused,
      location: (id) => `/logs/${id}`,
      leases: { take: unused, isHeld: unused, holders: unused },
      artifacts: {
        put: async ({ name }, text) => ({ name, path: name, bytes: text.length }),
        append: unused,
        get: unused,
        list: unused,
        file: () => undefined,
      },
    });
    const [one, two] = [await store.create("a", { cwd: "/" }), await store.open("b")];
    const wanted = { session: "a", kind: "output", name: "out" } as const;
    expect(await store.artifacts.put(wanted, "text")).toEqual({ name: "out", path: "out", bytes: 4 });
    expect(store.location("a")).toBe("/logs/a");
    await one.append(events(1));
    await two.append(events(1));
    expect(await store.read("a")[Symbol.asyncIterator]().next()).toMatchObject({ value: { seq: 1 } });
    void one.append(events(2, 3));
    await point.crashed;
    expect([first.disk, second.disk, first.isOpen(), second.isOpen()]).toEqual([[1, 2], [1], false, false]);
    expect(await settles(store.open("b"))).toBe(false);
    expect(await settles(store.list())).toBe(false);
  });
});
