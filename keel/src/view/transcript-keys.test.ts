import { expect, test } from "vitest";
import { openFamily, rootId } from "../../../test/agents/family.ts";
import { everyEvent } from "../../../test/store/every-event.ts";
import type { ModelRequest } from "../ports/model.ts";
import type { Origin } from "../protocol/ask.ts";
import type { Durable, DurableEvent } from "../protocol/event/durable.ts";
import type { Envelope } from "../protocol/event/envelope.ts";
import type { LiveEvent } from "../protocol/event/live.ts";
import { text, textOf } from "../protocol/message.ts";
import type { TaskData, TaskStatus } from "../protocol/task.ts";
import { noBill, noUsage } from "../protocol/usage.ts";
import { memoryStore } from "../store/memory/memory.ts";
import { reply, toolUse } from "../testing/reply.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import type { AgentRow, Row } from "./rows.ts";
import {
  changedKeys,
  foldTranscript,
  type KeyedTranscript,
  noTranscript,
  rowOf,
  rowsOf,
  transcriptOf,
} from "./transcript.ts";
import { originOf } from "./work-rows.ts";

const session = "s";
const shown = (event: LiveEvent): Envelope => ({ at: 5, session, ...event });
const recorded = (...events: DurableEvent[]): Durable[] =>
  events.map((event, index) => ({ seq: index + 1, at: 1_000 + index, session, ...event }));
const below = (origin: Origin, events: readonly Envelope[]): Envelope[] =>
  events.map((event) => ({ ...event, origin: event.origin ?? origin }));
const task = (taskId: string, status: TaskStatus, data: TaskData): DurableEvent => ({
  type: "task.changed",
  taskId,
  status,
  data,
});
const replied = (
  requestId: string,
  content: Extract<DurableEvent, { type: "model.finished" }>["content"],
): DurableEvent => ({
  type: "model.finished",
  requestId,
  messageId: requestId,
  model: "m",
  content,
  stop: "end",
  usage: noUsage,
  costUsd: 0,
  ms: 1,
});
const delta = (requestId: string, words: string): Envelope =>
  shown({ type: "text.delta", requestId, index: 0, text: words });
const begun = (requestId: string): Envelope =>
  shown({ type: "block.started", requestId, index: 0, block: text("") });

/** All rows, with what is below an agent after the agent. */
function allRows(transcript: KeyedTranscript, agent = ""): Row[] {
  return rowsOf(transcript, agent)
    .toArray()
    .flatMap((row) => (row.kind === "agent" ? [row, ...allRows(transcript, row.id)] : [row]));
}

const manyRows = (count: number): KeyedTranscript =>
  transcriptOf(
    Array.from(
      { length: count },
      (_, index): Envelope => ({
        seq: index + 1,
        at: index,
        session,
        ...replied(`old-${index}`, [text(`Reply ${index}.`)]),
      }),
    ),
  );

test("a delta changes exactly one row of two thousand, and no other is touched", () => {
  const before = foldTranscript(manyRows(2_000), begun("r"));
  const after = foldTranscript(before, delta("r", "Word"));
  expect(changedKeys(before, after)).toEqual(new Set(["r:0"]));
  const old = rowsOf(before).toArray();
  const now = rowsOf(after).toArray();
  expect(now.filter((row, index) => row !== old[index])).toEqual([
    expect.objectContaining({ id: "r:0", text: "Word" }),
  ]);
});

test("every hundredth transcript of a long reply stays as it was while the reply goes on", () => {
  let transcript = foldTranscript(manyRows(50), begun("r"));
  const kept: { transcript: KeyedTranscript; text: string }[] = [];
  let written = "";
  for (let count = 0; count < 3_000; count++) {
    if (count % 100 === 0) kept.push({ transcript, text: written });
    // Something else happens beside it, so that the row is not always the one that changed last.
    if (count % 7 === 0)
      transcript = foldTranscript(transcript, shown({ type: "notice.raised", level: "info", text: "n" }));
    written += `${count} `;
    transcript = foldTranscript(transcript, delta("r", `${count} `));
  }
  transcript = foldTranscript(
    transcript,
    shown({ type: "reply.withdrawn", requestId: "r", why: { code: "unexpected", message: "" } }),
  );
  expect(rowOf(transcript, "r:0")).toBe(undefined);
  for (const { transcript: old, text: was } of kept)
    expect(rowOf(old, "r:0")).toMatchObject({ text: was, live: true });
  expect(kept).toHaveLength(30);
});

test("every start of a log folds, and no two rows have the same key", () => {
  const log = recorded(...everyEvent);
  let transcript = noTranscript;
  for (const [index, event] of log.entries()) {
    transcript = foldTranscript(transcript, event);
    const rows = allRows(transcript);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
    expect(allRows(transcriptOf(log.slice(0, index + 1)))).toEqual(rows);
    for (const row of rows) expect(rowOf(transcript, row.id)).toBe(row);
  }
  expect(rowsOf(transcript).length).toBeGreaterThan(10);
});

const firstWords = ({ messages }: ModelRequest): string => textOf(messages[0]?.content ?? []);
const hasResult = ({ messages }: ModelRequest): boolean =>
  (messages.at(-1)?.content ?? []).some(({ type }) => type === "tool_result");
const agentCall = (id: string) =>
  toolUse(
    "Agent",
    { description: `work ${id}`, prompt: `do ${id}`, subagent_type: "worker", run_in_background: false },
    id,
  );

/** A session whose agent has an agent. */
async function twoDeep() {
  const store = memoryStore();
  const model = scriptedModel((request) => {
    if (firstWords(request).includes("do c2")) return reply("Deep words.");
    if (hasResult(request)) return reply("That was it.");
    return reply("I give it away.", agentCall(firstWords(request).includes("do c1") ? "c2" : "c1"));
  });
  const { say, events } = await openFamily({ store, model });
  await say("go");
  return { store, events };
}

const agentsIn = (rows: Iterable<Row>): AgentRow[] =>
  [...rows].flatMap((row) => (row.kind === "agent" ? [row] : []));

test("an agent is a row with its own rows below it, also two deep", async () => {
  const { events } = await twoDeep();
  const transcript = transcriptOf(events);
  const [outer, ...others] = agentsIn(rowsOf(transcript));
  expect(others).toEqual([]);
  expect(outer).toMatchObject({ agent: "worker", status: "completed", title: "work c1", depth: 1 });
  expect(outer?.totals.costUsd).toBeGreaterThan(0);
  expect(outer?.endedAt).not.toBe(null);
  const [inner] = agentsIn(rowsOf(transcript, outer?.id));
  expect(inner).toMatchObject({ agent: "worker", status: "completed", title: "work c2", depth: 2 });
  expect(rowsOf(transcript, inner?.id).toArray()).toContainEqual(
    expect.objectContaining({ kind: "text", text: "Deep words.", live: false }),
  );
  expect(
    rowsOf(transcript)
      .toArray()
      .map(({ kind }) => kind),
  ).toEqual(["user", "text", "tool", "agent", "text", "turn-end"]);
  for (const row of allRows(transcript)) expect(rowOf(transcript, row.id)).toBe(row);
});

test("the rows of a running session and of its logs read again have the same keys, those of agents too", async () => {
  const { store, events } = await twoDeep();
  const near = transcriptOf(events);
  const readLog = async (id: string): Promise<Durable[]> => Array.fromAsync(await store.read(id));
  let resumed = transcriptOf(await readLog(rootId));
  for (let open = agentsIn(rowsOf(resumed)); open.length > 0; ) {
    const next: AgentRow[] = [];
    for (const row of open) {
      resumed = below(originOf(row), await readLog(row.data.session ?? "")).reduce(foldTranscript, resumed);
      next.push(...agentsIn(rowsOf(resumed, row.id)));
    }
    open = next;
  }
  expect(allRows(resumed).length).toBeGreaterThan(12);
  expect(allRows(resumed)).toEqual(allRows(near).filter(({ id }) => !id.includes("notice:")));
});

const origin: Origin = { agentId: "a1", parentCallId: "c1", kind: "worker", depth: 1 };
const deeper: Origin = { agentId: "a2", parentCallId: "c2", kind: "reader", depth: 2, description: "look" };

test("a delta of an agent changes one row below it, and not the agent's own", () => {
  const before = transcriptOf([
    ...recorded(task("a1", "running", { kind: "agent", agent: "worker", callId: "c1" })),
    ...below(origin, [begun("r")]),
  ]);
  const after = below(origin, [delta("r", "Word")]).reduce(foldTranscript, before);
  expect(changedKeys(before, after)).toEqual(new Set(["a1/r:0"]));
  expect(rowsOf(after)).toBe(rowsOf(before));
  const withdrawn = below(origin, [
    shown({ type: "reply.withdrawn", requestId: "r", why: { code: "unexpected", message: "" } }),
  ]).reduce(foldTranscript, after);
  expect(rowsOf(withdrawn, "agent:a1").length).toBe(0);
  expect(changedKeys(after, withdrawn)).toEqual(new Set(["a1/r:0"]));
});

test("an agent whose start nobody told has a row, which goes below its parent once that is known", () => {
  const late = transcriptOf(below(deeper, [begun("r"), delta("r", "Word")]));
  expect(allRows(late).map(({ id }) => id)).toEqual(["agent:a2", "a2/r:0"]);
  expect(rowOf(late, "agent:a2")).toMatchObject({
    agent: "reader",
    title: "look",
    depth: 2,
    status: "running",
  });
  const told = below(origin, recorded(task("a2", "completed", { kind: "agent", agent: "reader" }))).reduce(
    foldTranscript,
    late,
  );
  expect(allRows(told).map(({ id }) => id)).toEqual(["agent:a1", "agent:a2", "a2/r:0"]);
  expect(rowOf(told, "agent:a2")).toMatchObject({ status: "completed", title: "look" });
});

test("the question of an agent stands where the person looks, and its call waits below", () => {
  const use = { type: "tool_use" as const, id: "c9", name: "Bash", input: {} };
  const ask = {
    id: "q",
    kind: "permission" as const,
    title: "Allow?",
    callId: "c9",
    options: [],
    body: { kind: "text" as const, text: "ls" },
  };
  const opened = transcriptOf(below(origin, recorded(replied("r", [use]), { type: "ask.opened", ask })));
  expect(
    rowsOf(opened)
      .toArray()
      .map(({ id }) => id),
  ).toEqual(["agent:a1", "ask:a1:2"]);
  expect(rowOf(opened, "a1/r:0")).toMatchObject({ status: "asking" });
  const closed = below(
    origin,
    recorded({ type: "ask.closed", askId: "q", answer: { verdict: "deny" }, by: "host" }),
  ).reduce(foldTranscript, opened);
  expect(rowOf(closed, "ask:a1:2")).toMatchObject({ closed: { by: "host" } });
  expect(rowOf(closed, "a1/r:0")).toMatchObject({ status: "requested" });
});

test("a command in the background is a row with what it showed last and how it ended", () => {
  const use = { type: "tool_use" as const, id: "c1", name: "Bash", input: { command: "npm run dev" } };
  const display = { kind: "terminal" as const, command: "npm run dev", output: "ready", exitCode: null };
  const data: TaskData = {
    kind: "shell",
    origin: "moved",
    callId: "c1",
    command: "npm run dev",
    description: "the server",
    outputFile: "/tasks/b1.output",
  };
  const running = transcriptOf([
    ...recorded(replied("r", [use])),
    shown({ type: "tool.progress", callId: "c1", tool: "Bash", elapsedMs: 1, display }),
    ...recorded(task("b1", "running", data)),
  ]);
  expect(rowOf(running, "task:b1")).toMatchObject({ status: "running", title: "the server", display, data });
  const ended = recorded(
    task("b1", "failed", { exitCode: 3, summary: "the server: ended with exit code 3", by: "itself" }),
  ).reduce(foldTranscript, running);
  expect(rowOf(ended, "task:b1")).toMatchObject({
    status: "failed",
    endedAt: 1_000,
    display,
    data: { exitCode: 3, command: "npm run dev" },
  });
  // That the model was told of an end changes nothing about it.
  expect(recorded(task("b1", "failed", { told: true })).reduce(foldTranscript, ended)).toBe(ended);
});

test("an agent that goes on is running again, and all that it cost is on its row", () => {
  const bill = {
    ...noBill,
    costUsd: 2,
    models: { m: { usage: { ...noUsage, outputTokens: 5 }, costUsd: 2 } },
  };
  const about: TaskData = { kind: "agent", agent: "worker", description: "work" };
  const once = recorded(
    task("a1", "running", about),
    task("a1", "completed", { bill, report: "Done.", by: "itself" }),
  );
  const again = [...once, ...recorded(task("a1", "running", about))];
  expect(rowOf(transcriptOf(once), "agent:a1")).toMatchObject({
    status: "completed",
    data: { report: "Done." },
  });
  const ended = transcriptOf(once);
  expect(recorded(task("a1", "completed", { told: true })).reduce(foldTranscript, ended)).toBe(ended);
  const row = rowOf(transcriptOf(again), "agent:a1");
  expect(row).toMatchObject({ status: "running", endedAt: null, title: "work" });
  expect(row?.kind === "agent" && row.data.report).toBe(undefined);
  const twice = transcriptOf([...again, ...recorded(task("a1", "completed", { bill }))]);
  expect(rowOf(twice, "agent:a1")).toMatchObject({ totals: { costUsd: 4 } });
});
