import { describe, expect, test } from "vitest";
import { memoryLog, openTestSession } from "../../../test/support/test-session.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { maxListeners } from "../engine/journal.ts";
import type { Log } from "../ports/store.ts";
import { text } from "../protocol/message.ts";
import { layout } from "../testing/layout.ts";
import { reply } from "../testing/reply.ts";
import { scriptedModel } from "../testing/scripted-model.ts";

/** A log that notes how often it rested and was read. */
function restingLog(): Log & { rests: number; reads: number } {
  const log = memoryLog();
  return {
    ...log,
    rests: 0,
    reads: 0,
    get lastSeq() {
      return log.lastSeq;
    },
    read(after) {
      this.reads++;
      return log.read(after);
    },
    async unload() {
      this.rests++;
      return true;
    },
  };
}

describe("a session that rests", () => {
  test("holds no conversation, tells all else as before, and goes on as if it had not rested", async () => {
    verifies("P32");
    const log = restingLog();
    const model = scriptedModel({ replies: [reply("One."), reply("Two.")] });
    const { session, say } = await openTestSession({ log, model });
    await say("first", { id: "an-input" });
    const before = session.state;
    expect(await session.unload()).toBe(true);
    expect([...session.state.history]).toEqual([]);
    const { history: _, seen: __, files: ___, ...told } = session.state;
    expect(before).toMatchObject(told);

    expect(await say("again", { id: "an-input" })).toMatchObject({ duplicate: true });
    expect(JSON.stringify(session.state)).toBe(JSON.stringify(before));
    expect(session.state.prompt).toBe(before.prompt);

    await session.unload();
    await say("second");
    expect(layout(model.requests[1])).toContain("One.");
    expect(layout(model.requests[1])).toContain("second");
  });

  test("reads its log once for all who come at once", async () => {
    const log = restingLog();
    const { session, say } = await openTestSession({
      log,
      script: { replies: Array(4).fill(reply("Yes.")) },
    });
    await say("first");
    await session.unload();
    const { reads } = log;
    const content = (words: string) => [text(words)];
    await Promise.all(
      ["a", "b", "c"].map((words) =>
        session.submit({ type: "input", content: content(words), when: "after" }),
      ),
    );
    await session.run();
    expect(log.reads - reads).toBe(1);
    expect([...session.state.history].filter(({ role }) => role === "user")).toHaveLength(4);
  });

  test("does not rest while a turn runs or an input waits", async () => {
    const log = restingLog();
    const { session, say } = await openTestSession({ log, script: { replies: [reply("One.")] } });
    await session.submit({ type: "input", content: [text("for later")], when: "with-next" });
    expect(await session.unload()).toBe(false);
    const tries: Promise<boolean>[] = [];
    session.onEvent(() => tries.push(session.unload()));
    await say("now");
    expect(tries.length).toBeGreaterThan(5);
    expect(await Promise.all(tries)).not.toContain(true);
    expect(await session.unload()).toBe(true);
  });

  test("does not rest on what came in while its log was being put away", async () => {
    const log = restingLog();
    const model = scriptedModel({ replies: [reply("One."), reply("Two.")] });
    const { session, say } = await openTestSession({ log, model });
    await say("first");
    const resting = session.unload();
    const receipt = session.submit({ type: "input", content: [text("second")] });
    expect(await resting).toBe(false);
    await receipt;
    await session.run();
    expect(layout(model.requests[1])).toContain("One.");
  });

  test("ends without reading what it had put away", async () => {
    const log = restingLog();
    const { session, say, types } = await openTestSession({ log, script: { replies: [reply("One.")] } });
    await say("first");
    await session.unload();
    const { reads } = log;
    await session.submit({ type: "close" });
    expect(log.reads).toBe(reads);
    expect(types().at(-1)).toBe("session.closed");
  });

  test("is not kept as it is: a fold without its conversation would pass for the whole", async () => {
    const kept: string[] = [];
    const endAfter = async (last: "a rest" | "more words"): Promise<void> => {
      const keep: Log["cacheFold"] = async (write) =>
        void kept.push(`after ${last}: ${(await write()).join("")}`);
      const log = Object.assign(restingLog(), { cacheFold: keep });
      const { session, say } = await openTestSession({
        log,
        script: { replies: [reply("One."), reply("Two.")] },
      });
      await say("first");
      await session.unload();
      if (last === "more words") await say("second");
      await session.close("ended");
    };
    await endAfter("a rest");
    await endAfter("more words");
    expect(kept).toEqual([expect.stringMatching(/^after more words: .*first.*One\..*second.*Two\./)]);
  });

  test("stays awake where its log cannot rest", async () => {
    const { session, say } = await openTestSession({ script: { replies: [reply("One.")] } });
    await say("first");
    expect(await session.unload()).toBe(false);
    expect([...session.state.history]).toHaveLength(2);
  });
});

test("a program that only ever adds listeners is told so", async () => {
  verifies("P32");
  const { session } = await openTestSession();
  const leave = session.onEvent(() => undefined);
  const addMany = (): void => {
    for (let added = 0; added < maxListeners; added++) session.onEvent(() => undefined);
  };
  expect(addMany).toThrow(expect.objectContaining({ code: "queue_full" }));
  leave();
  session.onEvent(() => undefined);
});
