/** The rows that every screen shows: data, so that a terminal, a browser and an exported page tell the same story. */
import type { FaultData } from "../kernel/fault.ts";
import type { Json } from "../kernel/json.ts";
import type { Answer, AnsweredBy, Ask } from "../protocol/ask.ts";
import type { Denial, Input, TurnReason } from "../protocol/event.ts";
import type { InputBlock, ResultPart } from "../protocol/message.ts";
import type { Display } from "../protocol/tool.ts";
import type { Usage } from "../protocol/usage.ts";

/** `id` is the same for a row as long as it lives. */
type RowBase = { readonly id: string; readonly at: number };

export type Row = UserRow | TextRow | ThinkingRow | ToolRow | NoticeRow | AskRow | CompactionRow | TurnEndRow;

/** What somebody sent: a person, or a hook, task or agent on its own. */
export type UserRow = RowBase & {
  readonly kind: "user";
  readonly content: readonly InputBlock[];
  readonly from: Input["from"];
  readonly status: "waiting" | "taken" | "dropped";
  /** Why it was dropped, if somebody said. */
  readonly reason?: string | undefined;
};

export type TextRow = RowBase & {
  readonly kind: "text";
  readonly requestId: string;
  readonly text: string;
  /** Still being written: it may yet be withdrawn. */
  readonly live: boolean;
};

export type ThinkingRow = RowBase & {
  readonly kind: "thinking";
  readonly requestId: string;
  readonly text: string;
  /** The provider keeps the words to itself. */
  readonly hidden: boolean;
  readonly live: boolean;
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

export type ToolRow = RowBase & {
  readonly kind: "tool";
  readonly requestId: string;
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
  readonly live: boolean;
};

export type NoticeRow = RowBase & {
  readonly kind: "notice";
  readonly level: "info" | "warning";
  readonly text: string;
  readonly code?: string | undefined;
};

export type AskRow = RowBase & {
  readonly kind: "ask";
  readonly ask: Ask;
  readonly closed: { readonly answer: Answer; readonly by: AnsweredBy } | null;
};

/** Above this row the model remembers the summary only. */
export type CompactionRow = RowBase & {
  readonly kind: "compaction";
  readonly trigger: "manual" | "full" | "too_long";
  readonly summary: string;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
};

export type TurnEndRow = RowBase & {
  readonly kind: "turn-end";
  readonly turnId: string;
  readonly reason: TurnReason;
  readonly fault?: FaultData | undefined;
  readonly answer?: Json | undefined;
  readonly usage: Usage;
  readonly costUsd: number;
  readonly ms: number;
};
