/** What happens in a session as lines on a terminal: words as they come, a line for each step, who else said what. */
import { readable, shorten, visible } from "../../../kernel/text.ts";
import {
  type Envelope,
  type EnvelopeOf,
  type EventHandlers,
  handle,
} from "../../../protocol/event/envelope.ts";
import { lastTextOf, textOf, toolUses } from "../../../protocol/message.ts";
import type { Row } from "../../../view/rows.ts";
import { sayCompaction, saySender, sayTurnEnd } from "../../../view/say-row.ts";
import { rowsOf, transcriptOf } from "../../../view/transcript.ts";
import { stepLine, targetOf } from "../print/progress.ts";

/** `said` is the conversation itself, `beside` all that is told about it. */
export type AttachLine = { readonly kind: "said" | "beside"; readonly text: string };

export type AttachMemo = {
  /** Replies that are being written, each with the line that is not whole yet. */
  readonly replies: ReadonlyMap<string, string>;
  /** What calls were asked to do, until they start. */
  readonly calls: ReadonlyMap<string, unknown>;
};

export const newAttachMemo: AttachMemo = { replies: new Map(), calls: new Map() };

const said = (text: string): AttachLine => ({ kind: "said", text: readable(text) });
const beside = (text: string): AttachLine => ({ kind: "beside", text: visible(text) });

/** What came from here: by its id an input is known, and on a terminal it stands on the screen already. */
export type OwnInputs = { has(inputId: string): boolean; readonly areSeen: boolean };

/** Pure. */
export function attachLines(event: Envelope, memo: AttachMemo, own: OwnInputs): [AttachLine[], AttachMemo] {
  // Of an agent only its steps are told; its words are its parent's to report.
  if (event.origin) {
    const step = stepLine(event, memo.calls);
    return [step === undefined ? [] : [beside(`  ${event.origin.kind} ${step}`)], withCalls(memo, event)];
  }
  // Who said it is told of others only.
  if (event.type === "input.accepted" && own.has(event.input.id))
    return [own.areSeen ? [] : quoted("You", textOf(event.input.content)), memo];
  const shown = handle(shownEvents, event, memo);
  const step = stepLine(event, memo.calls);
  const [lines, next] = shown ?? [[], memo];
  return [step === undefined ? lines : [...lines, beside(step)], withCalls(next, event)];
}

type ShownLines = [AttachLine[], AttachMemo];

const shownEvents: EventHandlers<Envelope, [memo: AttachMemo], ShownLines> = {
  "input.accepted": ({ input }, memo) => [
    quoted(saySender({ kind: "user", at: 0, status: "taken", ...input }), textOf(input.content)),
    memo,
  ],
  "reply.started": ({ requestId }, memo) => [[], withReply(memo, requestId, "")],
  "text.delta": ({ requestId, text }, memo) => {
    const before = memo.replies.get(requestId);
    // Who came in the middle of a reply is told it as a whole.
    if (before === undefined) return [[], memo];
    const lines = (before + text).split("\n");
    const rest = lines.pop() ?? "";
    return [lines.map(said), withReply(memo, requestId, rest)];
  },
  "block.finished": ({ requestId }, memo) => flushed(memo, requestId, ""),
  "reply.withdrawn": ({ requestId, why }, memo) => {
    if (!memo.replies.has(requestId)) return [[], memo];
    const [lines, next] = flushed(memo, requestId, undefined);
    return [[...lines, beside(`(this reply does not count: ${why.message})`)], next];
  },
  "model.finished": (event, memo) => {
    if (memo.replies.has(event.requestId)) return flushed(memo, event.requestId, undefined);
    const text = textOfReply(event);
    return [text === "" ? [] : text.split("\n").map(said), memo];
  },
  "model.failed": ({ requestId }, memo) => flushed(memo, requestId, undefined),
  "command.answered": ({ text }, memo) => [text.split("\n").map(said), memo],
  "notice.raised": ({ level, text }, memo) => [level === "warning" ? [beside(`keel: ${text}`)] : [], memo],
  "ask.closed": ({ answer, by }, memo) => [
    [beside(`(${answer.verdict === "allow" ? "allowed" : "refused"}, by ${by})`)],
    memo,
  ],
  "turn.finished": (event, memo) => [
    [beside(`· ${sayTurnEnd({ kind: "turn-end", id: "", ...event })}`)],
    memo,
  ],
  "session.closed": (_, memo) => [[beside("· the session was closed")], memo],
};

const textOfReply = ({ content }: EnvelopeOf<"model.finished">): string =>
  content.some(({ type }) => type === "text")
    ? content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n")
    : lastTextOf(content);

/** The line that was begun ends; with `undefined` the reply does too. */
function flushed(memo: AttachMemo, requestId: string, rest: string | undefined): ShownLines {
  const begun = memo.replies.get(requestId);
  if (begun === undefined) return [[], memo];
  return [begun === "" ? [] : [said(begun)], withReply(memo, requestId, rest)];
}

function withReply(memo: AttachMemo, requestId: string, rest: string | undefined): AttachMemo {
  const replies = new Map(memo.replies);
  if (rest === undefined) replies.delete(requestId);
  else replies.set(requestId, rest);
  return { ...memo, replies };
}

function withCalls(memo: AttachMemo, event: Envelope): AttachMemo {
  if (event.type === "tool.finished" && memo.calls.has(event.callId)) {
    const calls = new Map(memo.calls);
    calls.delete(event.callId);
    return { ...memo, calls };
  }
  if (event.type !== "model.finished") return memo;
  const uses = toolUses(event.content);
  if (uses.length === 0) return memo;
  return { ...memo, calls: new Map([...memo.calls, ...uses.map(({ id, input }) => [id, input] as const)]) };
}

const maxRows = 12;
const maxRowLines = 6;
const maxCharacters = 500;

/** What was said and done last, as few lines as give somebody the thread. */
export function recentLines(events: readonly Envelope[]): AttachLine[] {
  const rows = [...rowsOf(transcriptOf(events))];
  const shown = rows.flatMap((row) => {
    const lines = rowLines(row);
    return lines.length === 0 ? [] : [lines];
  });
  return shown.slice(-maxRows).flat();
}

function rowLines(row: Row): AttachLine[] {
  switch (row.kind) {
    case "user":
      return quoted(saySender(row), shorten(textOf(row.content), maxCharacters));
    case "text": {
      const lines = shorten(row.text.trim(), maxCharacters).split("\n");
      const cut = lines.length > maxRowLines ? [...lines.slice(0, maxRowLines), "…"] : lines;
      return row.text.trim() === "" ? [] : cut.map(said);
    }
    case "tool":
      return [beside(`· ${row.tool} ${targetOf(row.input)}`.trimEnd())];
    case "compaction":
      return [beside(`· ${sayCompaction(row)}`)];
    case "turn-end":
      return row.reason === "completed" ? [] : [beside(`· ${sayTurnEnd(row)}`)];
    case "agent":
    case "task":
      return [beside(`· ${row.kind} ${row.title} (${row.status})`)];
    case "thinking":
    case "notice":
    case "ask":
      return [];
  }
}

const quoted = (sender: string, text: string): AttachLine[] =>
  `${sender === "You" ? "" : `${sender}: `}${text}`.split("\n").map((line) => said(`> ${line}`));
