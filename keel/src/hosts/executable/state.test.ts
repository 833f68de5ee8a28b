import { describe, expect, test } from "vitest";
import type { OpenSession } from "../../app/open-session.ts";
import { WireState } from "./state.ts";

/** A session that works when it is told to. */
function stage() {
  const said: string[] = [];
  let works = false;
  let listener: (event: { type: string; trigger?: string }) => void = () => undefined;
  const done = Promise.withResolvers<void>();
  const session = {
    id: "s",
    hasWork: () => works,
    idle: () => done.promise,
    onEvent: (heard: typeof listener) => {
      listener = heard;
      return () => undefined;
    },
  } as unknown as OpenSession;
  const state = new WireState((message) => said.push(message.state));
  state.watch(session);
  return {
    said,
    state,
    async stepEnds() {
      done.resolve();
      await done.promise;
      await Promise.resolve();
    },
    event(type: string, now: "works" | "rests", trigger = "manual") {
      works = now === "works";
      listener(type === "context.compacted" ? { type, trigger } : { type });
    },
  };
}

describe("what an SDK is told of a session", () => {
  test("running with the first input, idle behind the end of the last turn", () => {
    const { said, event } = stage();
    event("input.accepted", "works");
    event("turn.started", "works");
    event("turn.finished", "works");
    event("turn.started", "works");
    event("turn.finished", "rests");
    expect(said).toEqual(["running", "idle"]);
  });

  test("a session that is ahead of its messages is not idle before the result was told", () => {
    const { said, event } = stage();
    event("input.accepted", "works");
    event("model.finished", "rests");
    expect(said).toEqual(["running"]);
    event("turn.finished", "rests");
    expect(said).toEqual(["running", "idle"]);
  });

  test("a compaction that was asked for is over when its hooks have answered", async () => {
    const { said, event, stepEnds } = stage();
    event("compaction.requested", "works");
    event("context.compacted", "rests");
    expect(said).toEqual(["running"]);
    await stepEnds();
    expect(said).toEqual(["running", "idle"]);
  });

  test("what was said during a compaction is waited for, up to its own result", async () => {
    const { said, event, stepEnds } = stage();
    event("compaction.requested", "works");
    event("context.compacted", "rests");
    event("input.accepted", "works");
    // The session has done it, and its result was not told yet.
    event("model.finished", "rests");
    await stepEnds();
    expect(said).toEqual(["running"]);
    event("turn.finished", "rests");
    expect(said).toEqual(["running", "idle"]);
  });

  test.each(["manual", "full"])("a %s compaction within a turn ends with the turn", async (trigger) => {
    const { said, event, stepEnds } = stage();
    event("input.accepted", "works");
    event("turn.started", "works");
    event("context.compacted", "works", trigger);
    event("model.finished", "rests");
    await stepEnds();
    expect(said).toEqual(["running"]);
    event("turn.finished", "rests");
    expect(said).toEqual(["running", "idle"]);
  });

  test("questions are waited for until the last is settled", () => {
    const { said, state, event } = stage();
    event("turn.started", "works");
    state.questions.asked();
    state.questions.asked();
    state.questions.answered();
    state.questions.answered();
    expect(said).toEqual(["running", "requires_action", "running"]);
  });

  test("what was answered without a turn is idle once more, for those who wait for it", () => {
    const { said, state } = stage();
    state.again();
    expect(said).toEqual(["idle"]);
  });
});
