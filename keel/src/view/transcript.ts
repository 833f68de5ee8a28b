/**
 * Events → rows, keyed. Rows stand in the order of the log: folding live and durable events together gives, once a turn
 * has ended, the same rows as folding the stored log alone, apart from notices, which are only shown. An event touches
 * the rows that it is about and no other, however many there are.
 */
import { KeyedList } from "../kernel/keyed-list.ts";
import { never } from "../kernel/result.ts";
import type { Origin } from "../protocol/ask.ts";
import type { Envelope, EnvelopeOf } from "../protocol/event/envelope.ts";
import { isReplyEvent } from "../protocol/event/live.ts";
import { textOf } from "../protocol/message.ts";
import { type Outcome, outcomeOf } from "../protocol/outcome.ts";
import {
  append,
  appendBlock,
  change,
  changeCall,
  foldBlock,
  newGroup,
  note,
  notice,
  type RowGroup,
  withoutLive,
} from "./row-group.ts";
import type { Row, ToolRow, ToolStatus, UserRow } from "./rows.ts";
import { sayMove, sayProgress } from "./say.ts";
import { isShownAddition, isShownBlock } from "./shown.ts";
import { agentKey, agentRow, agentRowOf, type TaskChangedEvent, taskRow } from "./work-rows.ts";

/** A value: folding gives a new one, and the old one stays as it was. Read it with the functions beside it. */
export type KeyedTranscript = {
  readonly own: RowGroup;
  /** The rows of agents, however deep, each group by the key of its agent. */
  readonly agents: KeyedList<RowGroup>;
};

export const noTranscript: KeyedTranscript = {
  own: newGroup({ id: "", above: "", prefix: "" }),
  agents: KeyedList.empty(),
};

/**
 * Pure: the same transcript comes back when the event changes nothing that is shown. The log of an agent is folded
 * into the transcript of the session above it with the agent's `origin` on each event.
 */
export function foldTranscript(before: KeyedTranscript, event: Envelope): KeyedTranscript {
  const { origin } = event;
  const transcript = origin ? withAgent(before, origin, event.at) : before;
  const group = groupOf(transcript, origin ? agentKey(origin.agentId) : "");
  // A question of an agent is a question to the same person: it stands where that person looks.
  if (origin && event.type === "ask.opened")
    return withGroup(withGroup(transcript, markAsking(group, event)), openAsk(transcript.own, event));
  if (origin && event.type === "ask.closed")
    return withGroup(
      withGroup(transcript, unmarkAsking(group, transcript.own, event)),
      closeAsk(transcript.own, event),
    );
  if (event.type === "task.changed") return foldTask(transcript, group, event);
  return withGroup(transcript, foldGroup(group, event));
}

/** The transcript of a whole log. */
export const transcriptOf = (envelopes: Iterable<Envelope>): KeyedTranscript =>
  Iterator.from(envelopes).reduce(foldTranscript, noTranscript);

/** The rows of the session itself in their order, or those below an agent by the key of its row. */
export const rowsOf = (transcript: KeyedTranscript, agent = ""): KeyedList<Row> =>
  groupOf(transcript, agent).rows;

/** A row by its key, wherever it stands. */
export function rowOf(transcript: KeyedTranscript, key: string): Row | undefined {
  const known = transcript.own.rows.get(key);
  if (known) return known;
  const agent = transcript.agents.get(key);
  if (agent) return groupOf(transcript, agent.above).rows.get(key);
  const end = key.indexOf("/");
  return end < 0 ? undefined : groupOf(transcript, agentKey(key.slice(0, end))).rows.get(key);
}

/** The keys of rows that came, went, moved or are other objects than before. Costs what changed, not what there is. */
export function changedKeys(before: KeyedTranscript, after: KeyedTranscript): ReadonlySet<string> {
  const groups = [...after.agents.changedSince(before.agents), ""];
  return new Set(groups.flatMap((id) => [...rowsOf(after, id).changedSince(rowsOf(before, id))]));
}

const groupOf = ({ own, agents }: KeyedTranscript, id: string): RowGroup =>
  id === "" ? own : (agents.get(id) ?? newGroup({ id, above: "", prefix: prefixOf(id) }));

const prefixOf = (key: string): string => `${key.slice(agentKey("").length)}/`;

function withGroup(transcript: KeyedTranscript, group: RowGroup): KeyedTranscript {
  if (group === groupOf(transcript, group.id)) return transcript;
  return group.id === ""
    ? { ...transcript, own: group }
    : { ...transcript, agents: transcript.agents.put(group) };
}

/** An agent is known from its task on; of one whose start nobody told, its origin says enough for a row. */
function withAgent(transcript: KeyedTranscript, origin: Origin, at: number): KeyedTranscript {
  const id = agentKey(origin.agentId);
  if (transcript.agents.get(id)) return transcript;
  const caller = transcript.agents
    .toArray()
    .find(({ aliases }) => aliases.get(`call:${origin.parentCallId}`) !== undefined);
  return addAgent(transcript, id, { above: caller ?? transcript.own, row: agentRowOf(origin, at) });
}

function addAgent(
  transcript: KeyedTranscript,
  id: string,
  { above, row }: { above: RowGroup; row: Row },
): KeyedTranscript {
  const group = transcript.agents.get(id) ?? newGroup({ id, above: above.id, prefix: prefixOf(id) });
  return withGroup(withGroup(transcript, append(above, row)), { ...group, above: above.id });
}

function foldTask(transcript: KeyedTranscript, group: RowGroup, event: TaskChangedEvent): KeyedTranscript {
  const { taskId, data = {} } = event;
  const id = agentKey(taskId);
  const known = transcript.agents.get(id);
  if (!known && data.kind !== "agent") return withGroup(transcript, changeTask(group, event));
  const shown = known && rowOf(transcript, id);
  const row = agentRow(shown?.kind === "agent" ? shown : undefined, event);
  if (known?.above === group.id)
    return row === shown ? transcript : withGroup(transcript, { ...group, rows: group.rows.put(row) });
  if (!known) return addAgent(transcript, id, { above: group, row });
  // Its row stood elsewhere as long as nobody knew to whom it belongs.
  const left = groupOf(transcript, known.above);
  const moved = withGroup(transcript, { ...left, rows: left.rows.remove(id) });
  return addAgent(moved, id, { above: groupOf(moved, group.id), row });
}

function changeTask(group: RowGroup, event: TaskChangedEvent): RowGroup {
  const id = `${group.prefix}task:${event.taskId}`;
  const known = group.rows.get(id);
  const before = known?.kind === "task" ? known : undefined;
  const call = group.rows.get(group.aliases.get(`call:${event.data?.callId}`)?.key ?? "");
  const display = (call?.kind === "tool" ? call.display : null) ?? before?.display ?? null;
  const row = taskRow(before, event, { id, display });
  if (before) return change(group, id, () => row);
  return append(group, row, row.data.callId === undefined ? undefined : `task-of:${row.data.callId}`);
}

function foldGroup(group: RowGroup, event: Exclude<Envelope, { type: "task.changed" }>): RowGroup {
  if (isReplyEvent(event)) return foldBlock(group, event);
  switch (event.type) {
    case "input.accepted": {
      const { content, from } = event.input;
      const id = `${group.prefix}${event.input.id}`;
      return append(group, { kind: "user", id, at: event.at, content, from, status: "waiting" });
    }
    case "turn.started":
    case "input.joined":
      return moveUsers(group, event.inputIds, { status: "taken" });
    case "input.dropped":
      return moveUsers(group, [event.inputId], { status: "dropped", reason: event.reason });
    case "model.finished":
      return settleReply(group, event);
    case "model.failed":
      return withoutLive(group, event.requestId);
    case "tool.started":
      return changeCall(group, event.callId, (row) => ({
        ...row,
        status: "running",
        input: event.input ?? row.input,
      }));
    case "tool.progress":
      return changeCall(group, event.callId, (row) => ({ ...row, display: event.display ?? row.display }));
    case "tool.finished":
      return finishCall(group, event);
    case "ask.opened":
      return openAsk(markAsking(group, event), event);
    case "ask.closed":
      return closeAsk(unmarkAsking(group, group, event), event);
    case "context.compacted": {
      const { trigger, summary, tokensBefore, tokensAfter, at, seq } = event;
      const id = `${group.prefix}compaction:${seq}`;
      return append(group, { kind: "compaction", id, at, trigger, summary, tokensBefore, tokensAfter });
    }
    case "turn.finished":
      return endTurn(group, event);
    case "context.added":
      if (!isShownAddition(event.why)) return group;
      return note(group, event, { text: textOf(event.content), code: event.why });
    case "context.cleared":
      return note(group, event, { text: "The conversation starts anew here." });
    case "context.returned":
      return note(group, event, {
        text: "The conversation goes on from an earlier message; what came after it is not part of it any more.",
      });
    case "settings.changed":
      return noteSettings(group, event);
    case "session.opened":
      if (!event.forkedFrom) return group;
      return note(group, event, { text: `This session is a copy of ${event.forkedFrom.session}.` });
    case "session.moved":
    case "session.arrived":
      return note(group, event, { text: sayMove(event) });
    case "notice.raised":
      return notice(group, event);
    case "command.answered":
      return notice(group, { ...event, level: "info", code: event.name });
    case "team.changed":
    case "goal.tried":
      return sayProgress(event) === "" ? group : note(group, event, { text: sayProgress(event) });
    case "memory.forgotten":
    case "prompt.fixed":
    case "turn.interrupted":
    case "model.started":
    case "model.consulted":
    case "compaction.requested":
    case "files.saved":
    case "files.rewound":
    case "context.inherited":
    case "folder.changed":
    case "session.closed":
    case "retry.waiting":
    case "hook.started":
    case "hook.progress":
    case "hook.finished":
      return group;
    default:
      return never(event);
  }
}

const markAsking = (group: RowGroup, { ask }: EnvelopeOf<"ask.opened">): RowGroup =>
  changeCall(group, ask.callId, (row) => ({ ...row, status: "asking" }));

/** `asked` is the group in which the question stands. */
function unmarkAsking(group: RowGroup, asked: RowGroup, event: EnvelopeOf<"ask.closed">): RowGroup {
  const row = asked.rows.get(askKey(asked, event) ?? "");
  if (row?.kind !== "ask" || row.closed) return group;
  return changeCall(group, row.ask.callId, (call) =>
    call.status === "asking" ? { ...call, status: "requested" } : call,
  );
}

function openAsk(group: RowGroup, event: EnvelopeOf<"ask.opened">): RowGroup {
  const { ask, seq, at, origin } = event;
  const id = origin ? `ask:${origin.agentId}:${seq}` : `${group.prefix}ask:${seq}`;
  return append(group, { kind: "ask", id, at, ask, closed: null }, askAlias(ask.id, origin));
}

const closeAsk = (group: RowGroup, event: EnvelopeOf<"ask.closed">): RowGroup =>
  change(group, askKey(group, event), (row) =>
    row.kind === "ask" && !row.closed
      ? {
          ...row,
          closed: {
            answer: event.answer,
            by: event.by,
            ...(event.who === undefined ? {} : { who: event.who }),
          },
        }
      : row,
  );

const askKey = (group: RowGroup, { askId, origin }: EnvelopeOf<"ask.closed">): string | undefined =>
  group.aliases.get(askAlias(askId, origin))?.key;

export const askAlias = (askId: string, origin: Origin | undefined): string =>
  `ask:${origin?.agentId ?? ""}:${askId}`;

/** An input stands where it was taken into the conversation, not where it began to wait. */
function moveUsers(
  group: RowGroup,
  ids: readonly string[],
  patch: Pick<UserRow, "status" | "reason">,
): RowGroup {
  return ids.reduce((moved, id) => {
    const row = group.rows.get(`${group.prefix}${id}`);
    return row?.kind === "user" ? append(moved, { ...row, ...patch }) : moved;
  }, group);
}

/** What was shown while it was written gives way to the reply on record. */
function settleReply(group: RowGroup, event: EnvelopeOf<"model.finished">): RowGroup {
  const { requestId, at, stop } = event;
  return event.content.reduce(
    (settled, block, index) =>
      isShownBlock(block, stop)
        ? appendBlock(settled, block, { requestId, index, at, live: false })
        : settled,
    withoutLive(group, requestId),
  );
}

/** What its call showed last is the last that is known of what a command left to the background. */
function finishCall(group: RowGroup, event: EnvelopeOf<"tool.finished">): RowGroup {
  const { display } = event;
  const done = changeCall(group, event.callId, (row) => finished(row, event));
  if (display.kind !== "terminal") return done;
  return change(done, group.aliases.get(`task-of:${event.callId}`)?.key, (row) =>
    row.kind === "task" ? { ...row, display } : row,
  );
}

function finished(row: ToolRow, event: EnvelopeOf<"tool.finished">): ToolRow {
  const outcome = outcomeOf(event);
  const isCutOff = outcome.kind === "denied" && outcome.denial.by === "interrupt";
  return {
    ...row,
    status: isCutOff ? "not-run" : statuses[outcome.kind],
    display: event.display,
    result: event.content,
    ms: event.ms,
    ...(outcome.kind === "denied" ? { denied: outcome.denial } : {}),
    ...(event.spilled ? { spilledTo: event.spilled.path } : {}),
    ...(event.linesAdded === undefined ? {} : { linesAdded: event.linesAdded }),
    ...(event.linesRemoved === undefined ? {} : { linesRemoved: event.linesRemoved }),
  };
}

const statuses: Readonly<Record<Outcome["kind"], ToolStatus>> = {
  done: "done",
  answered: "done",
  failed: "failed",
  invalid: "failed",
  deferred: "failed",
  interrupted: "interrupted",
  denied: "denied",
};

/** Calls that the turn left open were not run, or were cut off; what is not on record by now never will be. */
function endTurn(before: RowGroup, event: EnvelopeOf<"turn.finished">): RowGroup {
  const { turnId, reason, fault, answer, usage, costUsd, ms, at } = event;
  let group = withoutLive(before);
  for (let index = group.rows.length - 1; index >= 0; index--) {
    const row = group.rows.at(index);
    if (row?.kind === "turn-end") break;
    if (row?.kind !== "tool") continue;
    const status = atTurnEnd[row.status];
    if (status !== row.status) group = change(group, row.id, () => ({ ...row, status }));
  }
  const more = { ...(fault ? { fault } : {}), ...(answer === undefined ? {} : { answer }) };
  const id = `${group.prefix}turn:${turnId}`;
  return append(group, { kind: "turn-end", id, at, turnId, reason, usage, costUsd, ms, ...more });
}

const atTurnEnd: Readonly<Record<ToolStatus, ToolStatus>> = {
  writing: "not-run",
  requested: "not-run",
  asking: "not-run",
  running: "interrupted",
  done: "done",
  failed: "failed",
  denied: "denied",
  interrupted: "interrupted",
  "not-run": "not-run",
};

function noteSettings(group: RowGroup, event: EnvelopeOf<"settings.changed">): RowGroup {
  const { model, permissionMode } = event.patch;
  if (event.why === "fallback")
    return note(group, event, { level: "warning", text: `${model} takes over for the rest of this turn.` });
  const words = [
    ...(model === undefined ? [] : [`Model: ${model}.`]),
    ...(permissionMode === undefined ? [] : [`Permission mode: ${permissionMode}.`]),
  ];
  return words.length === 0 ? group : note(group, event, { text: words.join(" ") });
}
