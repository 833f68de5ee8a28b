/** The rows that every screen shows: data, so that a terminal, a browser and an exported page tell the same story. */
import type { Json } from "../kernel/json.ts";
import type { Answer, AnsweredBy, Ask } from "../protocol/ask.ts";
import type { Denial, Input } from "../protocol/event/durable.ts";
import type { EnvelopeOf } from "../protocol/event/envelope.ts";
import type { InputBlock, ResultPart } from "../protocol/message.ts";
import type { TaskData, TaskStatus } from "../protocol/task.ts";
import type { Display } from "../protocol/tool.ts";
import type { Totals } from "./totals.ts";

/**
 * `id` is the key of a row: the same as long as the row lives, and no other row's, also not of an agent's. It is made
 * of what the log says, so whoever folds the same events finds the same keys; only notices, which no log holds, are
 * counted.
 */
type RowBase = { readonly id: string; readonly at: number };

/** What a conversation consists of. */
export type ConversationRow =
  | UserRow
  | TextRow
  | ThinkingRow
  | ToolRow
  | NoticeRow
  | AskRow
  | CompactionRow
  | TurnEndRow;

/** Work that goes on beside the conversation. */
export type WorkRow = AgentRow | TaskRow;

export type Row = ConversationRow | WorkRow;

/** What somebody sent: a person, or a hook, task or agent on its own. */
export type UserRow = RowBase & {
  readonly kind: "user";
  readonly content: readonly InputBlock[];
  readonly from: Input["from"];
  readonly status: "waiting" | "taken" | "dropped";
  /** Why it was dropped, if somebody said. */
  readonly reason?: string | undefined;
};

/** A part of a reply. */
type ReplyRow = RowBase & {
  readonly requestId: string;
  /** Still being written: it may yet be withdrawn. */
  readonly live: boolean;
};

export type TextRow = ReplyRow & { readonly kind: "text"; readonly text: string };

export type ThinkingRow = ReplyRow & {
  readonly kind: "thinking";
  readonly text: string;
  /** The provider keeps the words to itself. */
  readonly hidden: boolean;
};

export type ToolStatus =
  | "writing"
  | "requested"
  | "asking"
  | "running"
  | "done"
  | "failed"
  | "denied"
  | "interrupted"
  | "not-run";

export type ToolRow = ReplyRow & {
  readonly kind: "tool";
  readonly callId: string;
  readonly tool: string;
  readonly input: Json;
  /** The arguments as far as they have come, while they are written. */
  readonly inputText?: string | undefined;
  readonly status: ToolStatus;
  /** What to show of the work: its progress, then its outcome. */
  readonly display: Display | null;
  /** What the model saw of the outcome. */
  readonly result: readonly ResultPart[];
  readonly ms: number | null;
  readonly denied?: Denial | undefined;
  /** Where the whole of an output stands that was too long for the model. */
  readonly spilledTo?: string | undefined;
  readonly linesAdded?: number | undefined;
  readonly linesRemoved?: number | undefined;
};

export type NoticeRow = RowBase & {
  readonly kind: "notice";
  readonly level: "info" | "warning";
  readonly text: string;
  readonly code?: string | undefined;
  /** What is shown in the place of its words, where a screen can. */
  readonly display?: Display | undefined;
};

export type SaidNotice = Omit<NoticeRow, "kind" | "id">;

export type AskRow = RowBase & {
  readonly kind: "ask";
  readonly ask: Ask;
  /** `who`: at which client, where several may be attached. */
  readonly closed: { readonly answer: Answer; readonly by: AnsweredBy; readonly who?: string } | null;
};

/** Above this row the model remembers the summary only. */
export type CompactionRow = RowBase & { readonly kind: "compaction" } & Readonly<
    Pick<EnvelopeOf<"context.compacted">, "trigger" | "summary" | "tokensBefore" | "tokensAfter">
  >;

export type TurnEndRow = RowBase & { readonly kind: "turn-end" } & Readonly<
    Pick<EnvelopeOf<"turn.finished">, "turnId" | "reason" | "fault" | "answer" | "usage" | "costUsd" | "ms">
  >;

type WorkBase = RowBase & {
  readonly taskId: string;
  readonly status: TaskStatus;
  /** What it is about, in a few words. */
  readonly title: string;
  readonly endedAt: number | null;
  /** What else its events said of it; what they said of an end after which it went on is gone. */
  readonly data: TaskData;
};

/** An agent. Its own rows are those below its key. */
export type AgentRow = WorkBase & {
  readonly kind: "agent";
  /** The kind of agent. */
  readonly agent: string;
  /** 1 for an agent of the session itself. */
  readonly depth: number;
  /** What it has cost, as far as its ends have told: an agent brings its bill when it ends. */
  readonly totals: Totals;
};

/** A command in the background. */
export type TaskRow = WorkBase & {
  readonly kind: "task";
  /** What its call showed of it last. What came later stands in `data.outputFile`. */
  readonly display: Display | null;
};
