/** A log as sessions leave it: inputs, replies with a call, results, ends of turns. The same for the same wishes. */
import type { Durable, DurableEvent } from "../../keel/src/protocol/event/durable.ts";
import { text } from "../../keel/src/protocol/message.ts";

export type Wish = {
  readonly count: number;
  /** Characters of a tool's result. It stands in the event twice: for the model, and as data for programs. */
  readonly resultBytes: number;
  readonly session?: string;
  readonly cwd?: string;
};

/** Model requests of one turn: a person asks, the model reads so often, and answers. */
const requestsPerTurn = 12;
const model = "claude-sonnet-4-5";
const usage = { inputTokens: 1200, outputTokens: 80, cacheReadTokens: 24_000, cacheWriteTokens: 900 };

export function typicalEvents({ count, resultBytes, session = benchSession, cwd }: Wish): Durable[] {
  const result = sourceText(resultBytes);
  const events: Durable[] = [];
  for (const event of conversation(result, cwd)) {
    if (events.length === count) break;
    events.push({ seq: events.length + 1, at: 1_780_000_000_000 + events.length * 250, session, ...event });
  }
  return events;
}

/** So many events, or a few more: the log ends where a turn does, and nothing is left to do. */
export const wholeTurns = (count: number): number =>
  eventsBefore + eventsPerTurn * Math.ceil((count - eventsBefore) / eventsPerTurn);

/** So many turns, whole. */
export const eventsOfTurns = (turns: number): number => eventsBefore + turns * eventsPerTurn;

/** Of `conversation` before its first turn, and of each turn. */
const eventsBefore = 2;
const eventsPerTurn = 5 + 4 * (requestsPerTurn - 1);

export const benchSession = "019ab000-0000-7000-8000-00000000be4c";

/** Text of so many characters in lines, like a source file. */
export function sourceText(characters: number): string {
  const line = 'export const answer = (question: string): number => question.length * 6 + 7; // "quoted"\n';
  return line.repeat(Math.ceil(characters / line.length)).slice(0, characters);
}

function* conversation(result: string, cwd = "/project"): Generator<DurableEvent> {
  yield {
    type: "session.opened",
    keel: "bench",
    cwd,
    settings: { model, permissionMode: "default", thinking: { kind: "off" } },
  };
  yield {
    type: "prompt.fixed",
    system: ["You read files.".repeat(100)],
    tools: [{ name: "Read", description: "Reads a file.", input: { type: "object" } }],
    why: "first",
  };
  for (let turn = 1; ; turn++) yield* turnEvents(turn, result);
}

function* turnEvents(turn: number, result: string): Generator<DurableEvent> {
  const inputId = `input-${turn}`;
  const content = [text(`Question ${turn}: what does the next file say about the answer?`)];
  yield { type: "input.accepted", input: { id: inputId, content, from: { kind: "person" }, when: "after" } };
  yield { type: "turn.started", turnId: `turn-${turn}`, inputIds: [inputId] };
  for (let request = 1; request < requestsPerTurn; request++)
    yield* requestEvents(`${turn}-${request}`, result);
  yield { type: "model.started", requestId: `request-${turn}-last`, model, purpose: "turn", attempt: 1 };
  yield {
    type: "model.finished",
    requestId: `request-${turn}-last`,
    messageId: `message-${turn}-last`,
    model,
    content: [text("It says that the answer depends on the length of the question.")],
    stop: "end",
    usage,
    costUsd: 0.0154,
    ms: 2100,
  };
  yield {
    type: "turn.finished",
    turnId: `turn-${turn}`,
    inputIds: [inputId],
    reason: "completed",
    usage,
    costUsd: 0.1848,
    requests: requestsPerTurn,
    ms: 30_000,
    apiMs: 25_000,
  };
}

function* requestEvents(name: string, result: string): Generator<DurableEvent> {
  const requestId = `request-${name}`;
  const callId = `toolu_${name}`;
  const path = `/project/src/file-${name}.ts`;
  yield { type: "model.started", requestId, model, purpose: "turn", attempt: 1 };
  yield {
    type: "model.finished",
    requestId,
    messageId: `message-${name}`,
    model,
    content: [
      text("I look at the next file."),
      { type: "tool_use", id: callId, name: "Read", input: { file_path: path } },
    ],
    stop: "tool_use",
    usage,
    costUsd: 0.0154,
    ms: 2100,
  };
  yield { type: "tool.started", callId, tool: "Read", by: "read-only" };
  yield {
    type: "tool.finished",
    callId,
    tool: "Read",
    content: [text(result)],
    failed: false,
    display: { kind: "text", text: `${path}: 23 lines` },
    ms: 3,
    data: {
      type: "text",
      file: { filePath: path, content: result, numLines: 23, startLine: 1, totalLines: 23 },
    },
    seen: [{ path, stamp: "5f2a9c01" }],
  };
}
