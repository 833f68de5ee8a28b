import { expect, test } from "vitest";
import { everyEvent } from "../../../../../test/store/every-event.ts";
import { verifies } from "../../../../../test/support/verifies.ts";
import type { Envelope } from "../../../protocol/event/envelope.ts";
import { noFacts } from "../../../sdk/dialect/memo.ts";
import { newConsoleMemo, toCommand, toLines } from "./agent-dialect.ts";
import { agentLineSchema, readLine, type ToldOfAgent } from "./lines.ts";

const session = "0193f0a0-0000-7000-8000-000000000001";
const log = everyEvent.map((event, index): Envelope => ({ seq: index + 1, at: index, session, ...event }));

function tell(events: readonly Envelope[]): ToldOfAgent[] {
  let memo = newConsoleMemo({ ...noFacts, sessionId: session });
  return events.flatMap((event) => {
    const [lines, next] = toLines(event, memo);
    memo = next;
    return lines;
  });
}

test("every event of a log says only lines of the wire, each message with an id of its own that stays the same", () => {
  verifies("S3.8", "S3.12");
  const lines = tell(log);
  const known = ["sdk-message", "activity", "ask", "ask-closed", "exit"];
  expect(lines.filter(({ type }) => !known.includes(type))).toEqual([]);
  const ids = lines.flatMap((line) => (line.type === "sdk-message" ? [line.message.uuid] : []));
  expect(ids.length).toBeGreaterThan(10);
  expect(new Set(ids).size).toBe(ids.length);
  expect(tell(log)).toEqual(lines);
  expect(lines.at(-1)).toEqual({ type: "exit", exitCode: 0, signal: null });
});

test("what the person said is a message among the others", () => {
  const said = tell(log).flatMap((line) =>
    line.type === "sdk-message" && line.message.type === "user" && "isReplay" in line.message
      ? [line.message]
      : [],
  );
  expect(said.map(({ message }) => message.role)).toContain("user");
});

test("the state is told when it is another one: active with a turn, asking with a question, idle behind the result", () => {
  verifies("S3.5");
  const at = (event: object, seq: number): Envelope => ({ seq, at: seq, session, ...event }) as Envelope;
  const input = { id: "i1", content: [], from: { kind: "person" }, when: "after" };
  const ask = { id: "a1", kind: "permission", title: "?", body: { kind: "text", text: "" }, options: [] };
  const lines = tell([
    at({ type: "input.accepted", input }, 1),
    at({ type: "turn.started", turnId: "t1", inputIds: ["i1"] }, 2),
    at({ type: "ask.opened", ask }, 3),
    at({ type: "ask.closed", askId: "a1", answer: { verdict: "allow" }, by: "host", who: "a phone" }, 4),
    at({ type: "turn.finished", turnId: "t1", inputIds: ["i1"], reason: "completed" }, 5),
  ]);
  expect(lines.map((line) => (line.type === "activity" ? line.state : line.type))).toEqual([
    "sdk-message",
    "sdk-message",
    "active",
    "ask",
    "asking",
    "ask-closed",
    "active",
    "sdk-message",
    "idle",
  ]);
  expect(lines.find(({ type }) => type === "ask-closed")).toEqual({
    type: "ask-closed",
    askId: "a1",
    verdict: "allow",
    by: "host",
    who: "a phone",
  });
});

test("a client's lines are commands, and what is none is said to be none", () => {
  verifies("S3.9");
  const commandOf = (line: object) => {
    const read = readLine(agentLineSchema, JSON.stringify(line));
    return read.ok ? toCommand(read.value) : read.error;
  };
  expect(commandOf({ type: "user-message", content: "Hi" })).toEqual({
    type: "input",
    content: [{ type: "text", text: "Hi" }],
  });
  expect(commandOf({ type: "cancel" })).toEqual({ type: "interrupt" });
  expect(commandOf({ type: "answer", askId: "a", verdict: "deny", reason: "No." })).toEqual({
    type: "answer",
    askId: "a",
    answer: { verdict: "deny", reason: "No." },
  });
  expect(commandOf({ type: "answer", askId: "a", answers: { "Which?": "This" } })).toEqual({
    type: "answer",
    askId: "a",
    answer: { verdict: "allow", data: { answers: { "Which?": "This" } } },
  });
  expect(commandOf({ type: "set", patch: { title: "A name" } })).toEqual({
    type: "set",
    patch: { title: "A name" },
  });
  expect(commandOf({ type: "request-history", lastUuid: null })).toBeUndefined();
  expect(commandOf({ type: "user-message", content: 7 })).toContain("content");
  expect(commandOf({ type: "input", data: "x" })).toContain("type");
  expect(readLine(agentLineSchema, "{")).toEqual({ ok: false, error: "not JSON" });
});
