/** What a session is at a moment: the pure fold of its log, by `core/fold.ts`. */

import { List } from "../../kernel/list.ts";
import { Lookup } from "../../kernel/lookup.ts";
import { type Learnt, nothingLearnt } from "../../policy/changes.ts";
import { noRefusals, type Refusals } from "../../policy/refusals.ts";
import type { Answer, AnsweredBy, Ask } from "../../protocol/ask.ts";
import type { Durable, Input } from "../../protocol/event/durable.ts";
import type { Message } from "../../protocol/message.ts";
import type { SessionSettings } from "../../protocol/settings.ts";
import type { ToolSpec } from "../../protocol/tool.ts";
import { type ItemizedBill, noBill } from "../../protocol/usage.ts";
import { type ContextShares, emptyTally, noShares, type Tally } from "../context/tally.ts";
import { type CallBatch, noCalls } from "./call-state.ts";
import { noSavedFiles, type SavedFiles } from "./checkpoint-state.ts";
import { type GoalState, noGoalTries } from "./goal-state.ts";
import { noTasks, type Tasks } from "./task-state.ts";
import type { TeamState } from "./team-state.ts";
import type { Turn } from "./turn.ts";
import { emptyWorklist, type Worklist } from "./worklist.ts";

export type SessionState = {
  readonly seq: number;
  readonly opened: { readonly cwd: string; readonly agent: string | undefined; readonly at: number } | null;
  /** Where it works now, if that is not where it began. */
  readonly folder: Pick<Extract<Durable, { type: "folder.changed" }>, "cwd" | "worktree"> | null;
  /** Where the next command starts, if not in that folder: the last one left the shell there. */
  readonly keptFolder: string | null;
  readonly closed: boolean;
  /** Where it went: here it is not at work any more. */
  readonly moved: Pick<Extract<Durable, { type: "session.moved" }>, "move" | "to" | "tree"> | null;
  readonly settings: SessionSettings | null;
  readonly prompt: { readonly system: readonly string[]; readonly tools: readonly ToolSpec[] } | null;
  readonly pending: readonly Input[];
  readonly turn: Turn | null;
  readonly turns: number;
  readonly request: {
    readonly id: string;
    readonly purpose: "turn" | "compaction";
    readonly model: string;
  } | null;
  readonly history: List<Message>;
  /** The calls of the newest reply, until all have settled. */
  readonly calls: CallBatch;
  readonly asks: readonly Ask[];
  /** How asks of the open calls were closed. An approval is used once. */
  readonly answers: ReadonlyMap<
    string,
    { readonly answer: Answer; readonly by: AnsweredBy; readonly who?: string }
  >;
  /** Rules and folders that answers and hosts added for the rest of the session. */
  readonly learnt: Learnt;
  /** What the person said no to. */
  readonly refusals: Refusals;
  /** The stamps of files as the session last saw them, by path. */
  readonly seen: Lookup<string>;
  /** The model's own list, its plan, and the tools that it can load. */
  readonly worklist: Worklist;
  /** What can be taken back. */
  readonly files: SavedFiles;
  /** Work in the background: all that runs, and the newest that has ended. */
  readonly tasks: Tasks;
  /** Who works with each other below this session, if it leads a team. */
  readonly team: TeamState | null;
  /** The tries of the goal that its settings name. */
  readonly goal: GoalState;
  /** An estimate of the next request, corrected by every count of the provider. */
  readonly contextTokens: number;
  /** What the provider may still keep of what it was sent. */
  readonly tally: Tally;
  /** What of it are instructions and skills. */
  readonly shares: ContextShares;
  readonly compaction: { readonly instructions: string | undefined } | null;
  readonly bill: ItemizedBill;
};

export const emptyState: SessionState = {
  seq: 0,
  opened: null,
  folder: null,
  keptFolder: null,
  closed: false,
  moved: null,
  settings: null,
  prompt: null,
  pending: [],
  turn: null,
  turns: 0,
  request: null,
  history: List.empty(),
  calls: noCalls,
  asks: [],
  answers: new Map(),
  learnt: nothingLearnt,
  refusals: noRefusals,
  seen: Lookup.empty(),
  worklist: emptyWorklist,
  files: noSavedFiles,
  tasks: noTasks,
  team: null,
  goal: noGoalTries,
  contextTokens: 0,
  tally: emptyTally,
  shares: noShares,
  compaction: null,
  bill: noBill,
};

/** The model that the next request goes to. */
export const modelOf = (state: SessionState): string => state.turn?.model ?? state.settings?.model ?? "";
