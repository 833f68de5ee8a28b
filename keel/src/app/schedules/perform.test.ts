// What a scheduled run does to a session in which somebody else is at work: it waits, and its end is its own alone.
import { expect, test } from "vitest";
import { memoryLog, openTestSession } from "../../../../test/support/test-session.ts";
import { over } from "../../kernel/abort.ts";
import { textOf } from "../../protocol/message.ts";
import type { Schedule, ScheduledRun } from "../../protocol/schedule.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import { reply } from "../../testing/reply.ts";
import { scriptedModel } from "../../testing/scripted-model.ts";
import { performRun } from "./perform.ts";

const input = "00000000-0000-4000-8000-000000000001";
const schedule: Schedule = {
  id: "s",
  when: { kind: "once", at: 1 },
  prompt: "Look.",
  cwd: "/",
  options: {},
  overlap: "skip",
  missed: "latest",
  lateMs: 0,
  jitterMs: 0,
  retries: 0,
  endsAfterMs: 1,
  from: 0,
  createdAt: 0,
};
const run: ScheduledRun = {
  schedule: "s",
  due: 1,
  claimedAt: 1,
  startedAt: 1,
  session: "x",
  inputs: [input],
};

/** A session whose model answers when it may. */
async function stageOf() {
  const may = Promise.withResolvers<void>();
  const model = scriptedModel(({ messages }) => reply(`To ${textOf(messages.at(-1)?.content ?? [])}`));
  const log = memoryLog();
  const { session, all } = await openTestSession({
    log,
    // Nobody loses patience.
    clock: fakeClock(),
    model: {
      ...model,
      async *stream(request, signal) {
        await Promise.race([may.promise, new Promise((end) => signal.addEventListener("abort", end))]);
        yield* model.stream(request, signal);
      },
    },
  });
  const stop = new AbortController();
  const told = {
    onEvent: session.onEvent.bind(session),
    submit: session.submit.bind(session),
    history: () => log.read(),
    openAsks: () => [],
    leave: async () => false,
    closed: new Promise<void>(() => undefined),
  };
  const perform = () =>
    performRun(schedule, run, { use: async () => told, asks: "answered", signal: stop.signal });
  const ends = () => all("turn.finished").map(({ reason }) => reason);
  return { session, perform, stop: () => stop.abort(over), may: may.resolve, ends };
}

test("one that still waits when its time is over is taken back, and the turn before it goes on", async () => {
  const { session, perform, stop, may, ends } = await stageOf();
  await session.submit({ type: "input", content: [{ type: "text", text: "Work." }] });
  const turn = session.run();
  const performed = perform();
  await expect.poll(() => session.state.pending.length).toBe(1);
  stop();
  expect(await performed).toEqual({ kind: "failed", why: "cancelled" });
  may();
  await turn;
  expect(ends()).toEqual(["completed"]);
});

test("one that is at work is interrupted", async () => {
  const { session, perform, stop, ends } = await stageOf();
  const performed = perform();
  await expect.poll(() => session.state.turn?.inputIds).toEqual([input]);
  stop();
  expect(await performed).toMatchObject({ kind: "failed", why: "interrupted" });
  expect(ends()).toEqual(["interrupted"]);
});
