import { expect, test } from "vitest";
import { openTestSession } from "../../../../test/support/test-session.ts";
import { lookTool } from "../../../../test/support/test-tools.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import { isDurable } from "../../protocol/event/envelope.ts";
import { reply, toolUse } from "../../testing/reply.ts";
import { eventsIn } from "./mirror.ts";
import { ownRecordsIn, Transcript, type TranscriptFacts } from "./transcript.ts";

async function aSession(): Promise<Durable[]> {
  const { say, events } = await openTestSession({
    script: { replies: [reply("Looking.", toolUse("Look", { at: "1" })), reply("Done.")] },
    tools: [lookTool([])],
    answer: () => ({ verdict: "allow" }),
  });
  await say("look", { id: "11111111-1111-4111-8111-111111111111" });
  return events.filter(isDurable);
}

const facts = (holds: TranscriptFacts["holds"]): TranscriptFacts => ({
  sessionId: "s",
  cwd: "/project",
  version: "1",
  entrypoint: "sdk-ts",
  holds,
});

test("a session becomes a chain of messages that starts with the prompt under its own id", async () => {
  const transcript = new Transcript(facts("messages"));
  const entries = (await aSession()).flatMap((event) => transcript.take(event));
  expect(entries.map(({ type }) => type)).toEqual(["user", "assistant", "assistant", "user", "assistant"]);
  expect(entries[0]).toMatchObject({
    uuid: "11111111-1111-4111-8111-111111111111",
    parentUuid: null,
    sessionId: "s",
    cwd: "/project",
    isSidechain: false,
    message: { role: "user" },
  });
  const ids = entries.map(({ uuid }) => uuid);
  expect(new Set(ids).size).toBe(ids.length);
  expect(entries.map((entry) => ("parentUuid" in entry ? entry.parentUuid : undefined))).toEqual([
    null,
    ...ids.slice(0, -1),
  ]);
});

test("with Keel's own records between them the session can be brought back, whatever else stands there", async () => {
  const transcript = new Transcript(facts("events"));
  const events = await aSession();
  const lines = events.flatMap((event) => transcript.take(event)).map((entry) => JSON.stringify(entry));
  const back = eventsIn(ownRecordsIn(["{cut", ...lines, '{"type":"tag"}', "7"]), events[0]?.session ?? "");
  expect(back).toEqual(JSON.parse(JSON.stringify(events)));
});
