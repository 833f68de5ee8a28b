/**
 * Events → rows. Rows stand in the order of the log: folding live and durable events together gives, once a turn has
 * ended, the same rows as folding the stored log alone, apart from notices, which are only shown.
 */
import { never } from "../kernel/never.ts";
import type { Envelope } from "../protocol/event.ts";
import { textOf } from "../protocol/message.ts";
import type { Row, ToolRow, ToolStatus, UserRow } from "./rows.ts";
import { isShownAddition, isShownBlock } from "./shown.ts";
import { changeBlock, isBlockEvent } from "./transcript-live.ts";
import { add, blockId, noticeRow, type RowChange, removeLive, rowOfBlock, set } from "./transcript-rows.ts";

type EnvelopeOf<T extends Envelope["type"]> = Extract<Envelope, { type: T }>;

/** Pure: the same array comes back when the event changes nothing that is shown. */
export function foldTranscript(rows: readonly Row[], envelope: Envelope): readonly Row[] {
  const changes = changesOf(rows, envelope);
  return changes.length === 0 ? rows : applied([...rows], changes);
}

/** The rows of a whole log. */
export function transcriptOf(envelopes: Iterable<Envelope>): readonly Row[] {
  const rows: Row[] = [];
  for (const envelope of envelopes) growTranscript(rows, envelope);
  return rows;
}

/** As `foldTranscript`, but it changes the rows that it is given: a long log is read without a copy per event. */
export function growTranscript(rows: Row[], envelope: Envelope): void {
  applied(rows, changesOf(rows, envelope));
}

function applied(rows: Row[], changes: readonly RowChange[]): Row[] {
  for (const change of changes) {
    if (change.kind === "add") rows.push(change.row);
    else if (change.kind === "set") rows[change.index] = change.row;
    else rows.splice(change.index, 1);
  }
  return rows;
}

function changesOf(rows: readonly Row[], event: Envelope): RowChange[] {
  // What an agent does stands in a transcript of its own.
  if (event.origin)
    return event.type === "ask.opened" || event.type === "ask.closed" ? changeAsk(rows, event) : [];
  if (isBlockEvent(event)) return changeBlock(rows, event);
  switch (event.type) {
    case "input.accepted": {
      const { id, content, from } = event.input;
      return [add({ kind: "user", id, at: event.at, content, from, status: "waiting" })];
    }
    case "turn.started":
    case "input.joined":
      return moveUsers(rows, event.inputIds, { status: "taken" });
    case "input.dropped":
      return moveUsers(rows, [event.inputId], { status: "dropped", reason: event.reason });
    case "model.finished":
      return settleReply(rows, event);
    case "model.failed":
      return removeLive(rows, event.requestId);
    case "tool.started":
      return changeTool(rows, event.callId, (row) => ({
        ...row,
        status: "running",
        input: event.input ?? row.input,
      }));
    case "tool.progress":
      return changeTool(rows, event.callId, (row) => ({ ...row, display: event.display }));
    case "tool.finished":
      return changeTool(rows, event.callId, (row) => finished(row, event));
    case "ask.opened":
    case "ask.closed":
      return changeAsk(rows, event);
    case "context.compacted": {
      const { trigger, summary, tokensBefore, tokensAfter, at, seq } = event;
      const id = `compaction:${seq}`;
      return [add({ kind: "compaction", id, at, trigger, summary, tokensBefore, tokensAfter })];
    }
    case "turn.finished":
      return endTurn(rows, event);
    case "context.added":
      if (!isShownAddition(event.why)) return [];
      return note(event, { text: textOf(event.content), code: event.why });
    case "context.cleared":
      return note(event, { text: "The conversation starts anew here." });
    case "settings.changed":
      return changeSettings(event);
    case "session.opened":
      if (!event.forkedFrom) return [];
      return note(event, { text: `This session is a copy of ${event.forkedFrom.session}.` });
    case "notice.raised": {
      const { level, text, code } = event;
      return [add(noticeRow(event, { id: nextNoticeId(rows), level, text, code }))];
    }
    case "command.answered":
      return [
        add(noticeRow(event, { id: nextNoticeId(rows), level: "info", text: event.text, code: event.name })),
      ];
    case "prompt.fixed":
    case "turn.interrupted":
    case "model.started":
    case "model.consulted":
    case "compaction.requested":
    case "files.saved":
    case "files.rewound":
    case "context.inherited":
    case "folder.changed":
    case "task.changed":
    case "session.closed":
    case "retry.waiting":
    case "hook.started":
    case "hook.finished":
      return [];
    default:
      return never(event);
  }
}

/** A question of an agent is a question to the same person. */
function changeAsk(
  rows: readonly Row[],
  event: Extract<Envelope, { type: "ask.opened" | "ask.closed" }>,
): RowChange[] {
  if (event.type === "ask.closed") return closeAsk(rows, event);
  const { ask, seq, at, origin } = event;
  const asked = add({
    kind: "ask",
    id: origin ? `ask:${origin.agentId}:${seq}` : `ask:${seq}`,
    at,
    ask,
    closed: null,
  });
  if (origin) return [asked];
  return [...changeTool(rows, ask.callId, (row) => ({ ...row, status: "asking" })), asked];
}

/** An input stands where it was taken into the conversation, not where it began to wait. */
function moveUsers(
  rows: readonly Row[],
  ids: readonly string[],
  patch: Pick<UserRow, "status" | "reason">,
): RowChange[] {
  const found = ids
    .map((id) => rows.findLastIndex((row) => row.kind === "user" && row.id === id))
    .filter((index) => index >= 0);
  const removals = found.toSorted((left, right) => right - left);
  const moved = found.flatMap((index) => {
    const row = rows[index];
    return row?.kind === "user" ? [add({ ...row, ...patch })] : [];
  });
  return [...removals.map((index): RowChange => ({ kind: "remove", index })), ...moved];
}

/** What was shown while it was written gives way to the reply on record. */
function settleReply(rows: readonly Row[], event: EnvelopeOf<"model.finished">): RowChange[] {
  const { requestId, at } = event;
  const settled = event.content.flatMap((block, index) => {
    if (!isShownBlock(block, event.stop)) return [];
    const row = rowOfBlock(block, { id: blockId(requestId, index), at, requestId, live: false });
    return row ? [add(row)] : [];
  });
  return [...removeLive(rows, requestId), ...settled];
}

function changeTool(
  rows: readonly Row[],
  callId: string | undefined,
  change: (row: ToolRow) => ToolRow,
): RowChange[] {
  if (callId === undefined) return [];
  const index = rows.findLastIndex((row) => row.kind === "tool" && row.callId === callId);
  const row = rows[index];
  return row?.kind === "tool" ? [set(index, change(row))] : [];
}

function finished(row: ToolRow, event: EnvelopeOf<"tool.finished">): ToolRow {
  return {
    ...row,
    status: statusOf(event),
    display: event.display,
    result: event.content,
    ms: event.ms,
    ...(event.denied ? { denied: event.denied } : {}),
    ...(event.spilled ? { spilledTo: event.spilled.path } : {}),
    ...(event.linesAdded === undefined ? {} : { linesAdded: event.linesAdded }),
    ...(event.linesRemoved === undefined ? {} : { linesRemoved: event.linesRemoved }),
  };
}

function statusOf(event: EnvelopeOf<"tool.finished">): ToolStatus {
  if (event.denied) return event.denied.by === "interrupt" ? "not-run" : "denied";
  if (event.interrupted) return "interrupted";
  return event.failed ? "failed" : "done";
}

function closeAsk(rows: readonly Row[], event: EnvelopeOf<"ask.closed">): RowChange[] {
  const isOpen = (row: Row): boolean =>
    row.kind === "ask" && row.closed === null && row.ask.id === event.askId;
  const index = rows.findLastIndex(isOpen);
  const row = rows[index];
  if (row?.kind !== "ask") return [];
  const { answer, by } = event;
  const answered = (tool: ToolRow): ToolRow =>
    tool.status === "asking" ? { ...tool, status: "requested" } : tool;
  return [set(index, { ...row, closed: { answer, by } }), ...changeTool(rows, row.ask.callId, answered)];
}

/** Calls that the turn left open were not run, or were cut off. */
function endTurn(rows: readonly Row[], event: EnvelopeOf<"turn.finished">): RowChange[] {
  const { turnId, reason, fault, answer, usage, costUsd, ms, at } = event;
  const start = rows.findLastIndex(({ kind }) => kind === "turn-end") + 1;
  const left = rows.slice(start).flatMap((row, offset): RowChange[] => {
    if (row.kind !== "tool") return [];
    const status = leftOpen(row.status);
    return status === row.status ? [] : [set(start + offset, { ...row, status })];
  });
  const more = { ...(fault ? { fault } : {}), ...(answer === undefined ? {} : { answer }) };
  const id = `turn:${turnId}`;
  return [...left, add({ kind: "turn-end", id, at, turnId, reason, usage, costUsd, ms, ...more })];
}

function leftOpen(status: ToolStatus): ToolStatus {
  switch (status) {
    case "writing":
    case "requested":
    case "asking":
      return "not-run";
    case "running":
      return "interrupted";
    case "done":
    case "failed":
    case "denied":
    case "interrupted":
    case "not-run":
      return status;
    default:
      return never(status);
  }
}

function changeSettings(event: EnvelopeOf<"settings.changed">): RowChange[] {
  const { model, permissionMode } = event.patch;
  if (event.why === "fallback")
    return note(event, { level: "warning", text: `${model} takes over for the rest of this turn.` });
  const words = [
    ...(model === undefined ? [] : [`Model: ${model}.`]),
    ...(permissionMode === undefined ? [] : [`Permission mode: ${permissionMode}.`]),
  ];
  return words.length === 0 ? [] : note(event, { text: words.join(" ") });
}

function note(
  event: { seq: number; at: number },
  { level = "info", text, code }: { level?: "info" | "warning"; text: string; code?: string },
): RowChange[] {
  return [
    add(noticeRow(event, { id: `note:${event.seq}`, level, text, ...(code === undefined ? {} : { code }) })),
  ];
}

/** Counted from the newest one, since a notice has no seq. */
function nextNoticeId(rows: readonly Row[]): string {
  const newest = rows.findLast(({ id }) => id.startsWith("notice:"));
  return `notice:${newest ? Number(newest.id.slice("notice:".length)) + 1 : 1}`;
}
