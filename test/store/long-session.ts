// Writes the log of a long session as a real one leaves it: turns with calls and results, and notes now and then.
import { closeSync, fsyncSync, mkdirSync, openSync, writeSync } from "node:fs";
import path from "node:path";
import type { DurableEvent } from "../../keel/src/protocol/event/durable.ts";
import { text } from "../../keel/src/protocol/message.ts";
import { encodeHeader, encodeRecord } from "../../keel/src/store/jsonl/line.ts";
import { envelopes } from "../../keel/src/testing/store-suite-events.ts";

export type LongSession = {
  readonly home: string;
  readonly cwd: string;
  readonly session: string;
  readonly model: string;
  readonly events: number;
  readonly bytes: number;
  /** What is repeated until the log is as long as it should be. */
  readonly words: string;
};

/** Returns how many events and bytes it wrote: at least as many as were asked for, and a whole number of turns. */
export function writeLongSession(wish: LongSession): { events: number; bytes: number } {
  const { home, cwd, session, model, words } = wish;
  const folder = path.join(home, "projects", "long");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = openSync(path.join(folder, `${session}.jsonl`), "wx", 0o600);
  let bytes = writeSync(file, encodeHeader({ session, cwd, at: 1 }));
  let events = 0;
  const write = (added: readonly DurableEvent[]): void => {
    const lines = envelopes(session, added, events).map(encodeRecord);
    events += added.length;
    bytes += writeSync(file, Buffer.concat(lines));
  };
  const settings = { model, permissionMode: "default", thinking: { kind: "off" } } as const;
  write([{ type: "session.opened", keel: "0.1.0", cwd, settings }]);
  // Results carry nearly everything, twice: for the model and for the screen.
  const share = wish.bytes / wish.events / Buffer.byteLength(JSON.stringify(words).slice(1, -1));
  const result = words.repeat(Math.ceil((share * eventsOfTurn) / (2 * callsOfTurn)));
  for (let turn = 1; events < wish.events || bytes < wish.bytes; turn++) {
    write(turnEvents(turn, { model, result }));
    if (turn % turnsBetweenNotes === 0) write(notes(turn, model));
  }
  // As every line of a real log was when it was written.
  fsyncSync(file);
  closeSync(file);
  return { events, bytes };
}

const callsOfTurn = 4;
const eventsOfTurn = 3 + 4 * callsOfTurn + 2;
/** Real windows hold a few hundred thousand characters. */
const turnsBetweenNotes = 4;
const usage = { inputTokens: 1_000, outputTokens: 100, cacheReadTokens: 50_000, cacheWriteTokens: 1_000 };
const billed = { usage, costUsd: 0.01, ms: 1_000 };
const uuid = (kind: number, number: number): string =>
  `0193f0a0-000${kind}-7000-8000-${number.toString(16).padStart(12, "0")}`;

function turnEvents(turn: number, { model, result }: { model: string; result: string }): DurableEvent[] {
  const inputId = uuid(1, turn);
  const requestId = (step: number): string => uuid(2, turn * 10 + step);
  const asked = (step: number): DurableEvent => ({
    type: "model.started",
    requestId: requestId(step),
    model,
    purpose: "turn",
    attempt: 1,
  });
  const steps = Array.from({ length: callsOfTurn }, (_, step): DurableEvent[] => {
    const id = `toolu_${turn}_${step}`;
    const call = { type: "tool_use" as const, id, name: "Bash", input: { command: `cat part-${step}` } };
    return [
      asked(step),
      {
        type: "model.finished",
        requestId: requestId(step),
        messageId: uuid(3, turn * 10 + step),
        model,
        content: [text(`I look at part ${step} of ${turn}.`), call],
        stop: "tool_use",
        ...billed,
      },
      { type: "tool.started", callId: id, tool: "Bash", by: "rule" },
      {
        type: "tool.finished",
        callId: id,
        tool: "Bash",
        content: [text(result)],
        failed: false,
        display: { kind: "terminal", command: `cat part-${step}`, output: result, exitCode: 0 },
        ms: 5,
      },
    ];
  }).flat();
  return [
    {
      type: "input.accepted",
      input: { id: inputId, content: [text(`Do ${turn}.`)], from: { kind: "person" }, when: "after" },
    },
    { type: "turn.started", turnId: uuid(4, turn), inputIds: [inputId] },
    ...steps,
    asked(callsOfTurn),
    {
      type: "model.finished",
      requestId: requestId(callsOfTurn),
      messageId: uuid(3, turn * 10 + callsOfTurn),
      model,
      content: [text(`That was ${turn}.`)],
      stop: "end",
      ...billed,
    },
    {
      type: "turn.finished",
      turnId: uuid(4, turn),
      inputIds: [inputId],
      reason: "completed",
      usage,
      costUsd: 0.05,
      requests: callsOfTurn + 1,
      ms: 5_000,
      apiMs: 4_000,
    },
  ];
}

function notes(turn: number, model: string): DurableEvent[] {
  const requestId = uuid(5, turn);
  return [
    { type: "compaction.requested" },
    { type: "model.started", requestId, model, purpose: "compaction", attempt: 1 },
    {
      type: "context.compacted",
      requestId,
      trigger: "manual",
      summary: `Earlier parts of this conversation were replaced by these notes:\n\nEverything until ${turn} is done.`,
      keep: 2,
      tokensBefore: 90_000,
      tokensAfter: 1_000,
      model,
      ...billed,
    },
  ];
}
