// Logs whose sums are right and whose content is odd: the session goes on, and a person is told once.
import { describe, expect, test } from "vitest";
import { memoryLog, openTestSession } from "../../../test/support/test-session.ts";
import { lookTool } from "../../../test/support/test-tools.ts";
import type { Durable } from "../protocol/event/durable.ts";
import { reply, toolUse } from "../testing/reply.ts";
import { findViolations } from "../testing/request-rules.ts";
import { scriptedModel } from "../testing/scripted-model.ts";

const look = (id: string) => toolUse("Look", { at: id }, id);

/** The events of two turns, of which the first has two calls and the second one. */
async function recorded(): Promise<Durable[]> {
  const log = memoryLog();
  const replies = [reply(look("a"), look("b")), reply("First."), reply(look("c")), reply("Second.")];
  const { say, session } = await openTestSession({ log, script: { replies }, tools: [lookTool([])] });
  await say("one");
  await say("two");
  await session.close("ended");
  return [...log.events];
}

async function resumed(events: Durable[]) {
  const model = scriptedModel({ replies: [reply("Third.")] });
  const test = await openTestSession({ log: memoryLog({ events }), model, tools: [lookTool([])] });
  await test.say("three", { id: "third-input" });
  const [request] = model.requests;
  if (!request) throw new Error("nothing was asked");
  return { ...test, request, notices: test.session.notices.map(({ text }) => text) };
}

const withCallId = (events: readonly Durable[], from: string, to: string): Durable[] =>
  JSON.parse(JSON.stringify(events).replaceAll(`"${from}"`, `"${to}"`));

const callsIn = (messages: readonly { content: readonly { type: string }[] }[]): string[] =>
  messages.flatMap(({ content }) =>
    content.flatMap((block) => ("id" in block && block.type === "tool_use" ? [String(block.id)] : [])),
  );

describe("a log with a call id that repeats", () => {
  test.each([
    ["of an earlier turn", "c"],
    ["of the same reply", "b"],
  ])("%s gives the later call a new one, and is resumed", async (_, later) => {
    const { request, notices, all } = await resumed(withCallId(await recorded(), later, "a"));
    const ids = callsIn(request.messages);
    expect(ids).toHaveLength(3);
    expect(new Set(ids).size).toBe(3);
    expect(findViolations(request)).toEqual([]);
    // Each call kept its own result.
    const results = request.messages.flatMap(({ content }) =>
      content.flatMap((block) => (block.type === "tool_result" ? [JSON.stringify(block.content)] : [])),
    );
    expect(results.map((words) => /saw (.)/.exec(words)?.[1])).toEqual(["a", "b", "c"]);
    expect(notices).toEqual([expect.stringContaining("the ids of 1 calls repeat")]);
    expect(all("turn.finished")).toMatchObject([{ reason: "completed" }]);
  });

  test("gives no name that the log has already", async () => {
    const events = await recorded();
    const third = events.filter((event) => event.type === "model.finished")[2];
    if (!third) throw new Error("no such reply");
    // The new name of the third reply's call stands in the log for a call of the first.
    const taken = withCallId(withCallId(events, "b", `a_${third.requestId}_0`), "c", "a");
    const { request } = await resumed(taken);
    expect(new Set(callsIn(request.messages)).size).toBe(3);
    expect(findViolations(request)).toEqual([]);
  });
});

test("a reply without anything in it is told of, and the session goes on", async () => {
  const events = (await recorded()).map((event) =>
    event.type === "model.finished" ? { ...event, content: [] } : event,
  );
  const { request, notices, all } = await resumed(events);
  expect(findViolations(request)).toEqual([]);
  expect(notices).toEqual([expect.stringContaining("4 replies of the model are empty")]);
  expect(all("turn.finished")).toMatchObject([{ reason: "completed" }]);
});

test("an honest empty reply is nothing to speak of", async () => {
  const log = memoryLog();
  const { say } = await openTestSession({ log, script: { replies: [reply(), reply("Well.")] } });
  await say("one");
  const again = await openTestSession({ log: memoryLog({ events: [...log.events] }) });
  expect(again.session.notices).toEqual([]);
});

test.each(["", " \n"])(
  "an empty summary (%j) leaves the messages as they were, and is told of",
  async (summary) => {
    const events = await recorded();
    const last = events.at(-1);
    const compacted: Durable = {
      seq: (last?.seq ?? 0) + 1,
      at: 0,
      session: last?.session ?? "",
      type: "context.compacted",
      requestId: "r",
      trigger: "manual",
      summary,
      keep: 0,
      tokensBefore: 100,
      tokensAfter: 10,
      usage: { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 },
      costUsd: 0.5,
      model: "test-model",
      ms: 1,
    };
    const { request, notices, session } = await resumed([...events, compacted]);
    const plain = await resumed(events);
    expect(request.messages).toEqual(plain.request.messages);
    expect(notices).toEqual([expect.stringContaining("1 summaries are empty")]);
    // It was paid all the same.
    expect(session.state.bill.costUsd).toBeCloseTo(plain.session.state.bill.costUsd + 0.5);
  },
);
