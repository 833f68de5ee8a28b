// What a session does when its log could not be written, and what it does not do twice.
import { describe, expect, test } from "vitest";
import { memoryLog, openTestSession } from "../../../test/support/test-session.ts";
import { changeTool } from "../../../test/support/test-tools.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { fault } from "../kernel/fault.ts";
import { noHooks } from "../ports/hooks.ts";
import type { Log } from "../ports/store.ts";
import type { Durable } from "../protocol/event/durable.ts";
import { type InputBlock, text } from "../protocol/message.ts";
import { instantClock } from "../testing/fake-clock.ts";
import { reply, toolUse } from "../testing/reply.ts";
import type { Session } from "./session.ts";

const id = "00000000-0000-4000-8000-000000000001";

/** A log that takes its time, reads slowly, and fails while it is told to. */
function frailLog(events: Durable[] = []): Log & { fails: boolean; readonly events: Durable[] } {
  const base = memoryLog({ events });
  return {
    session: base.session,
    notices: [],
    fails: false,
    events,
    get lastSeq() {
      return base.lastSeq;
    },
    async append(added) {
      await soon();
      if (this.fails) throw fault("log_unwritable", { path: "log", reason: "the disk is full" });
      await base.append(added);
    },
    async *read(after = 0) {
      for (const event of [...events]) {
        await soon();
        if (event.seq > after) yield event;
      }
    },
    close: async () => undefined,
  };
}

const soon = () => new Promise((resolve) => setImmediate(resolve));

describe("after a failed write", () => {
  test("an input that was refused is new when it comes again", async () => {
    verifies("G8");
    const log = frailLog();
    const { session, say } = await openTestSession({
      log,
      script: { replies: [], otherwise: reply("Yes.") },
    });
    log.fails = true;
    await expect(say("words", { id })).rejects.toThrow();
    log.fails = false;
    expect(await say("words", { id })).toMatchObject({ duplicate: false });
    expect(await say("words", { id })).toMatchObject({ duplicate: true });
    expect([...session.state.history]).toHaveLength(2);
  });

  test("inputs that come together are each accepted once and each end once", async () => {
    verifies("G1", "G8");
    const log = frailLog();
    const opened = await openTestSession({ log, script: { replies: [], otherwise: reply("Yes.") } });
    await opened.say("one");
    log.fails = true;
    await expect(opened.session.submit({ type: "input", content: [text("lost")] })).rejects.toThrow();
    log.fails = false;

    const receipts = await Promise.all(
      ["a", "b", "c"].map((words) => opened.session.submit({ type: "input", content: [text(words)] })),
    );
    while (opened.session.state.pending.length > 0 || opened.session.state.turn) await opened.session.run();

    expect(log.events.map(({ seq }) => seq)).toEqual(log.events.map((_, index) => index + 1));
    const ended = opened.all("turn.finished").flatMap(({ inputIds }) => inputIds);
    for (const receipt of receipts) {
      expect(receipt).toMatchObject({ type: "accepted", duplicate: false });
      expect(ended.filter((ending) => "inputId" in receipt && ending === receipt.inputId)).toHaveLength(1);
    }
  });

  test("a second delivery of an input is not acknowledged before the first is on disk", async () => {
    const log = frailLog();
    const opened = await openTestSession({ log, script: { replies: [] } });
    log.fails = true;
    const input = { type: "input" as const, id, content: [text("one")] };
    const both = await Promise.allSettled([opened.session.submit(input), opened.session.submit(input)]);
    expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  });

  test("the session can be closed while a question is open", async () => {
    const log = frailLog();
    const opened = await openTestSession({
      log,
      tools: [changeTool([])],
      answer: () => undefined,
      clock: instantClock({ maxMs: 60_000 }),
      script: { replies: [reply(toolUse("Change"))] },
    });
    await askedAfter(opened.session, [text("go")]);
    log.fails = true;
    await expect(opened.session.submit({ type: "set", patch: { title: "new" } })).rejects.toThrow();
    await expect(opened.session.close("ended")).rejects.toMatchObject({ code: "log_unwritable" });
  });

  test("a session that is closed while its log is looked at anew ends its turn first", async () => {
    verifies("G3");
    const log = frailLog();
    const opened = await openTestSession({
      log,
      tools: [changeTool([])],
      answer: () => undefined,
      clock: instantClock({ maxMs: 60_000 }),
      script: { replies: [reply(toolUse("Change"))] },
      hooks: {
        end: async () => {
          for (let times = 0; times < 100; times++) await soon();
        },
      },
    });
    await askedAfter(opened.session, [text("go")]);
    log.fails = true;
    await expect(opened.session.submit({ type: "set", patch: { title: "new" } })).rejects.toThrow();
    log.fails = false;
    const again = opened.session.submit({ type: "set", patch: { title: "newer" } });
    await Promise.all([again.catch(() => undefined), opened.session.close("ended")]);
    expect(opened.all("turn.finished")).toMatchObject([{ reason: "interrupted" }]);
    expect(log.events.at(-1)?.type).toBe("session.closed");
  });

  test("a defect in the loop loses nothing that happened before it, and writes nothing twice", async () => {
    const log = frailLog();
    let broken = true;
    const opened = await openTestSession({
      log,
      script: { replies: [reply("Yes.")], otherwise: reply("Again.") },
      hooks: {
        stop: async (...given) => {
          if (broken) throw new Error("a hook that breaks its promise");
          return noHooks.stop(...given);
        },
      },
    });
    await opened.say("one");
    expect(opened.session.fault?.message).toContain("breaks its promise");
    expect(log.events.at(-1)?.type).toBe("model.finished");
    broken = false;
    await opened.say("two");
    expect(log.events.map(({ seq }) => seq)).toEqual(log.events.map((_, index) => index + 1));
    expect(opened.all("turn.finished")).toHaveLength(2);
    expect(opened.all("model.started")).toHaveLength(2);
  });
});

/** Resolves when an ask is open. */
async function askedAfter(session: Session, content: InputBlock[]): Promise<void> {
  const asked = new Promise<void>((resolve) => {
    session.onEvent(({ type }) => type === "ask.opened" && resolve());
  });
  await session.submit({ type: "input", content });
  await asked;
}
