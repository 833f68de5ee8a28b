import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { changeTool, lookTool } from "../../../test/support/test-tools.ts";
import { tell } from "../../../test/support/told.ts";
import { verifies } from "../../../test/support/verifies.ts";
import type { Durable, DurableEvent } from "../protocol/event/durable.ts";
import type { Envelope } from "../protocol/event/envelope.ts";
import { text } from "../protocol/message.ts";
import { noUsage } from "../protocol/usage.ts";
import { httpError, reply, replyWith, thinking, toolUse } from "../testing/reply.ts";
import type { Reply } from "../testing/script.ts";
import type { Row } from "./rows.ts";
import { foldTranscript, noTranscript, rowsOf, transcriptOf } from "./transcript.ts";

const tools = [lookTool([]), changeTool([])];
const session = "s";
const durable = (events: DurableEvent[]): Durable[] =>
  events.map((event, index) => ({ seq: index + 1, at: 1_000 + index, session, ...event }));
const live = { at: 5, session, requestId: "r1" };

const rowsIn = (events: Iterable<Envelope>): Row[] => rowsOf(transcriptOf(events)).toArray();

const sketch = (rows: Iterable<Row>): string[] =>
  [...rows].map((row) => {
    switch (row.kind) {
      case "user":
        return `user ${row.status}`;
      case "text":
        return `text ${JSON.stringify(row.text)}${row.live ? " …" : ""}`;
      case "thinking":
        return `thinking${row.live ? " …" : ""}`;
      case "tool":
        return `${row.tool} ${row.status}${row.live ? " …" : ""}`;
      case "notice":
        return `notice ${row.text}`;
      case "ask":
        return `ask ${row.closed?.by ?? "open"}`;
      case "turn-end":
        return `end ${row.reason}`;
      default:
        return row.kind;
    }
  });

describe("a transcript", () => {
  test("shows a turn from the prompt to its end", async () => {
    const script = {
      replies: [reply(thinking("Hm."), "I change it.", toolUse("Change", { at: "1" })), reply("Done.")],
    };
    const { log } = await tell({ script, tools }, "go");
    const rows = rowsIn(log);
    expect(sketch(rows)).toEqual([
      "user taken",
      "thinking",
      'text "I change it."',
      "Change done",
      "ask host",
      'text "Done."',
      "end completed",
    ]);
    expect(rows[3]).toMatchObject({
      input: { at: "1" },
      result: [text("changed 1")],
      display: { kind: "text" },
    });
    expect(rows.at(-1)).toMatchObject({ costUsd: expect.any(Number), ms: expect.any(Number) });
  });

  test("shows a reply while it is written, and takes back one that breaks off", async () => {
    const broken = replyWith({ fault: { kind: "cut", afterEvents: 3 } }, "Lost.");
    const { events } = await tell({ script: { replies: [broken, reply("Kept.")] } }, "go");
    const shown = new Set<string>();
    let transcript = noTranscript;
    for (const event of events) {
      transcript = foldTranscript(transcript, event);
      for (const line of sketch(rowsOf(transcript))) shown.add(line);
    }
    const rows = rowsOf(transcript);
    expect(shown).toContain('text "Lost." …');
    expect(sketch(rows)).toEqual(["user taken", 'text "Kept."', "end completed"]);
  });

  test("lets the arguments of a call grow, and shows its progress and where a long output went", () => {
    const events: Envelope[] = [
      {
        type: "block.started",
        ...live,
        index: 0,
        block: { type: "tool_use", id: "c1", name: "Bash", input: {} },
      },
      { type: "call.delta", ...live, index: 0, json: '{"command":' },
      { type: "call.delta", ...live, index: 0, json: '"ls"}' },
    ];
    const writing = rowsIn(events);
    expect(writing[0]).toMatchObject({ status: "writing", inputText: '{"command":"ls"}', live: true });
    const running = transcriptOf([
      ...events,
      ...durable([
        finishedReply([{ type: "tool_use", id: "c1", name: "Bash", input: { command: "ls" } }]),
        { type: "tool.started", callId: "c1", tool: "Bash", by: "rule", input: { command: "ls -l" } },
      ]),
      {
        type: "tool.progress",
        at: 6,
        session,
        callId: "c1",
        tool: "Bash",
        elapsedMs: 5,
        display: { kind: "text", text: "half" },
      },
    ]);
    expect(rowsOf(running).at(0)).toMatchObject({
      status: "running",
      input: { command: "ls -l" },
      display: { text: "half" },
    });
    const done = foldTranscript(running, {
      seq: 9,
      at: 9,
      session,
      type: "tool.finished",
      callId: "c1",
      tool: "Bash",
      content: [text("head … tail")],
      failed: false,
      display: { kind: "text", text: "all" },
      ms: 7,
      spilled: { path: "/spilled/c1.txt", bytes: 99 },
      linesAdded: 3,
      linesRemoved: 1,
    });
    expect(rowsOf(done).at(0)).toMatchObject({
      status: "done",
      spilledTo: "/spilled/c1.txt",
      linesAdded: 3,
      linesRemoved: 1,
      ms: 7,
    });
  });

  test("says what became of calls that never ran or were cut off", () => {
    const uses = ["c1", "c2"].map((id) => ({ type: "tool_use" as const, id, name: "Bash", input: {} }));
    const rows = rowsIn(
      durable([
        finishedReply(uses),
        { type: "tool.started", callId: "c1", tool: "Bash", by: "rule" },
        ended("lost"),
      ]),
    );
    expect(sketch(rows)).toEqual(["Bash interrupted", "Bash not-run", "end lost"]);
  });

  test("an input stands where it was taken, not where it began to wait", () => {
    const input = {
      id: "i1",
      content: [text("next")],
      from: { kind: "person" as const },
      when: "after" as const,
    };
    const start = durable([
      { type: "input.accepted", input },
      finishedReply([text("Words.")]),
      ended("completed"),
    ]);
    expect(sketch(rowsIn(start))).toEqual(["user waiting", 'text "Words."', "end completed"]);
    const taken = rowsIn([
      ...start,
      { seq: 9, at: 9, session, type: "turn.started", turnId: "t2", inputIds: ["i1"] },
    ]);
    expect(sketch(taken)).toEqual(['text "Words."', "end completed", "user taken"]);
    const dropped = rowsIn([
      ...start,
      { seq: 9, at: 9, session, type: "input.dropped", inputId: "i1", why: "blocked", reason: "No." },
    ]);
    expect(dropped.at(-1)).toMatchObject({ status: "dropped", reason: "No." });
  });

  test("shows what an ask is about, and who closed it", () => {
    const use = { type: "tool_use" as const, id: "c1", name: "Bash", input: {} };
    const ask = {
      id: "a1",
      kind: "permission" as const,
      title: "Allow Bash?",
      body: { kind: "text" as const, text: "ls" },
      options: [],
      callId: "c1",
    };
    const opened = transcriptOf(durable([finishedReply([use]), { type: "ask.opened", ask }]));
    expect(sketch(rowsOf(opened))).toEqual(["Bash asking", "ask open"]);
    const closed = foldTranscript(opened, {
      seq: 3,
      at: 3,
      session,
      type: "ask.closed",
      askId: "a1",
      answer: { verdict: "allow" },
      by: "host",
      who: "a phone",
    });
    expect(sketch(rowsOf(closed))).toEqual(["Bash requested", "ask host"]);
    expect(rowsOf(closed).at(-1)).toMatchObject({ kind: "ask", closed: { by: "host", who: "a phone" } });
  });

  test("notes what changes the course of things", () => {
    const rows = rowsIn([
      ...durable([
        {
          type: "session.opened",
          keel: "0",
          cwd: "/",
          settings: { model: "m", permissionMode: "default", thinking: { kind: "off" } },
          forkedFrom: { session: "old", seq: 3 },
        },
        { type: "settings.changed", patch: { model: "big", permissionMode: "plan" }, why: "host" },
        { type: "settings.changed", patch: { model: "small" }, why: "fallback" },
        { type: "settings.changed", patch: { title: "Bees" }, why: "host" },
        { type: "context.added", content: [text("Go on.")], why: "output_limit" },
        { type: "context.added", content: [text("Instructions.")], why: "instructions" },
        { type: "context.cleared" },
        {
          type: "context.compacted",
          requestId: "r2",
          trigger: "full",
          summary: "notes",
          keep: 0,
          tokensBefore: 10,
          tokensAfter: 5,
          usage: noUsage,
          costUsd: 0,
          model: "m",
          ms: 1,
        },
      ]),
      { type: "notice.raised", at: 1, session, level: "warning", text: "Careful." },
      { type: "notice.raised", at: 1, session, level: "info", text: "Fine." },
    ]);
    expect(sketch(rows)).toEqual([
      "notice This session is a copy of old.",
      "notice Model: big. Permission mode: plan.",
      "notice small takes over for the rest of this turn.",
      "notice Go on.",
      "notice The conversation starts anew here.",
      "compaction",
      "notice Careful.",
      "notice Fine.",
    ]);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
  });

  test("leaves the transcript that it was given as it was, and gives it back when nothing changes", () => {
    const one = foldTranscript(noTranscript, {
      at: 1,
      session,
      type: "notice.raised",
      level: "info",
      text: "x",
    });
    const same = foldTranscript(one, { ...live, type: "reply.started", model: "m" });
    expect(same).toBe(one);
    const more = foldTranscript(one, { at: 1, session, type: "notice.raised", level: "info", text: "y" });
    expect(rowsOf(one)).toHaveLength(1);
    expect(rowsOf(more)).toHaveLength(2);
  });
});

const anyReply: fc.Arbitrary<Reply> = fc.oneof(
  fc.constantFrom(
    reply("Words."),
    reply("Look.", toolUse("Look", { at: "1" }), toolUse("Change", { at: "2" })),
    reply(thinking("Hm."), " "),
    reply(),
    replyWith({ stop: "output_limit" }, "Cut"),
    httpError(529),
    httpError(400),
  ),
  fc
    .nat(8)
    .map((afterEvents) =>
      replyWith({ fault: { kind: "cut", afterEvents } }, "Text.", toolUse("Look", { at: "1" })),
    ),
);

test("live events and the log end in the same rows as the log alone, step by step as in one go", async () => {
  verifies("P16");
  await fc.assert(
    fc.asyncProperty(fc.array(anyReply, { maxLength: 6 }), fc.option(fc.nat(25)), async (replies, at) => {
      const { events, log } = await tell(
        { script: { replies, otherwise: reply("End.") }, tools },
        async ({ session: running, say }) => {
          let count = 0;
          running.onEvent(() => {
            if (count++ === at) void running.submit({ type: "interrupt" });
            if (count === 12) void running.submit({ type: "input", content: [text("steer")], when: "now" });
          });
          await say("one");
          await say("two");
        },
      );
      const stored = rowsIn(log);
      const stepwise = rowsOf(events.reduce(foldTranscript, noTranscript)).toArray();
      const isLasting = ({ id }: Row): boolean => !id.startsWith("notice:");
      expect(stepwise.filter(isLasting)).toEqual(stored);
      expect(rowsIn(events)).toEqual(stepwise);
      expect(new Set(stored.map(({ id }) => id)).size).toBe(stored.length);
    }),
    { numRuns: 60 },
  );
});

function finishedReply(content: Extract<DurableEvent, { type: "model.finished" }>["content"]): DurableEvent {
  return {
    type: "model.finished",
    requestId: "r1",
    messageId: "m1",
    model: "m",
    content,
    stop: "end",
    usage: noUsage,
    costUsd: 0,
    ms: 1,
  };
}

function ended(reason: "completed" | "lost"): DurableEvent {
  return {
    type: "turn.finished",
    turnId: "t1",
    inputIds: [],
    reason,
    usage: noUsage,
    costUsd: 0,
    requests: 1,
    ms: 1,
    apiMs: 1,
  };
}
