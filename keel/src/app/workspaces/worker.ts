/** A worker as a workspace has it, whatever its engine: what is shown of it, and how it ends and starts again. */

import type { KeelSettings } from "../../config/settings/settings-schema.ts";
import type { Clock, Ids } from "../../ports/clock.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import type { OperationQuestion } from "../../protocol/operation.ts";
import type { PermissionMode } from "../../protocol/settings.ts";
import type { AgentUpdate, DiffSummary, FileDiff, NewWorker, WorkerEntry } from "../../protocol/workspace.ts";
import type { DiffTotals } from "../../workspace/git/diff-summary.ts";
import type { ProcessEnvironment } from "../../workspace/processes/environment.ts";
import type { TerminalFeed, TerminalPosition } from "../../workspace/terminals/terminal-watcher.ts";
import type { LateGuard } from "../compose/late-ports.ts";
import type { OpenSession } from "../open-session.ts";
import type { Opening } from "../sessions/openings.ts";
import type { FolderPolicy } from "./folder-policy.ts";
import type { WorkerRecord } from "./workspace-store.ts";

/** What changes of an entry while a worker works. */
export type WorkerState = Pick<
  WorkerEntry,
  "activity" | "session" | "lastWords" | "costUsd" | "asks" | "model" | "exit" | "failure"
>;

export type Worker = {
  state(): WorkerState;
  /** Starts its program or engine anew. */
  restart(): Promise<void>;
  /** Nothing of it runs any more; what it has to show stays, and it starts anew when it is used. */
  rest(): Promise<void>;
  /** It is forgotten: nothing of it runs, and nothing is listened to any more. */
  end(): Promise<void>;
  /** Of an agent: words for it, after what it does now. */
  tell?(words: string, id?: string): Promise<void>;
  interrupt?(): Promise<void>;
  /** Of an agent whose engine has messages of its own. */
  readonly messages?: WorkerMessages | undefined;
  /** Of a program in a terminal. */
  readonly terminal?: WorkerTerminal | undefined;
  readonly diff?: WorkerDiff | undefined;
};

export type WorkerMessages = {
  /** Those after the message with this uuid, all where none has it, then as they come; and what it asks. Null: from now on. */
  follow(since: string | null | undefined, signal: AbortSignal): AsyncIterable<AgentUpdate>;
  /** Those that are kept, of which pieces are none. */
  stored(since: string | undefined): AsyncIterable<AgentUpdate>;
  /** `late`: nobody waits for it any more. */
  answer(ask: string, answer: AgentAnswer): { readonly late: boolean };
};

export type AgentAnswer = {
  readonly verdict: "allow" | "deny";
  readonly words?: string | undefined;
  readonly option?: string | undefined;
};

export type WorkerTerminal = {
  /** Throws `work_refused` where no program runs. */
  type(keys: string): void;
  resize(size: { readonly columns: number; readonly rows: number }): void;
  watch(from: TerminalPosition, signal: AbortSignal): TerminalFeed;
};

export type WorkerDiff = {
  summary(): Promise<DiffSummary>;
  /** Throws `work_refused` for a file that has not changed. */
  file(path: string): Promise<FileDiff>;
  change(wanted: DiffChange): Promise<{ readonly undo?: string | undefined }>;
  /** The diff as it is, then whenever it is another one. */
  watch(signal: AbortSignal): AsyncIterable<DiffSummary>;
};

export type DiffChange = Omit<OperationQuestion<"changeDiff">, "worker">;

/** One that is open here, or that runs behind a bridge. */
export type FollowableSession = Pick<OpenSession, "id" | "attach">;

/** What workers have of the sessions that the server owns. */
export type WorkspaceSessions = {
  /** Returns its id. Throws as `Home.open` does. */
  open(opening: Opening): Promise<string>;
  /** Undefined while it is not open. */
  current(id: string): FollowableSession | undefined;
  /** Calls back whenever a session was opened, until what it returns is called. */
  onOpened(listener: (session: FollowableSession) => void): () => void;
  /** The same `inputId` twice is said once. */
  say(id: string, words: string, inputId?: string): Promise<void>;
  interrupt(id: string): Promise<void>;
  /** What its log has. Throws `session_unknown`. */
  stored(id: string, after: number): AsyncIterable<Durable>;
  /** Closes it where it is open; it comes back on use. */
  rest(id: string): Promise<void>;
};

/** `isTrusted`: what the folder brings along may be run. */
export type FolderSettings = { readonly isTrusted: boolean; readonly settings: KeelSettings };

export type WorkerContext = {
  readonly cwd: string;
  /** For files of its own; it need not be there yet. */
  readonly folder: string;
  readonly env: ProcessEnvironment;
  readonly guard: LateGuard;
  settings(): Promise<FolderSettings>;
  /** What may be done in the folder without a session. Throws as `openFolderPolicy` does. */
  policy(mode: PermissionMode): Promise<FolderPolicy>;
  readonly clock: Clock;
  readonly ids: Pick<Ids, "uuid">;
  readonly record: () => WorkerRecord;
  /** How it was asked for, when it was just created. */
  readonly asked?: NewWorker | undefined;
  readonly sessions: WorkspaceSessions;
  /** The commit that a worktree was made of. */
  readonly base: () => string | undefined;
  /** How much has changed in the folder, where a worker came to know of it. */
  readonly found: (totals: DiffTotals | undefined) => void;
  /** Something that is shown has changed. */
  readonly changed: () => void;
  /** Facts of its own that outlive the server. */
  readonly keep: (facts: Partial<WorkerRecord>) => Promise<void>;
};

/** Throws where it cannot be made at all; what fails later is told by its state. */
export type StartWorker = (context: WorkerContext) => Promise<Worker>;

/** An engine that this Keel does not know: it is shown, and nothing is done with it. */
export const unknownEngine: Worker = {
  state: () => ({ activity: "unknown" }),
  restart: async () => undefined,
  rest: async () => undefined,
  end: async () => undefined,
};
