/** Work in the background, as tools bring it and as they see it. */
import type { DurableEvent } from "../protocol/event/durable.ts";
import type { TaskData, TaskStatus } from "../protocol/task.ts";

/** Work that goes on by itself. */
export type TaskWork = {
  /** Settles when it is over; never rejects. */
  readonly over: Promise<TaskEnd>;
  /** What it wrote so far, as far as it is kept. */
  output(): string;
  /** Ends it. */
  stop(): Promise<void>;
};

export type TaskEnd = Pick<
  TaskData,
  "exitCode" | "signal" | "summary" | "error" | "report" | "bill" | "toolUses" | "unsettled" | "told"
> & {
  readonly status: "completed" | "failed" | "stopped";
  /** The budget ended it. */
  readonly by?: "budget";
};

export type TaskAbout = Pick<
  TaskData,
  | "kind"
  | "origin"
  | "description"
  | "command"
  | "agent"
  | "session"
  | "depth"
  | "since"
  | "name"
  | "prompt"
  | "worktree"
  | "team"
  | "message"
  | "plans"
>;

/** Where a task's output goes, if it goes to a file. */
export type TaskOutputLocation = { readonly id: string; readonly outputFile: string | undefined };

/** Tasks as the tool of one call sees them. */
export interface CallTasks {
  /** On record before `begin` is called: a task that nobody knows of does not run. With an `id` one goes on that had ended. */
  start(
    about: TaskAbout & { readonly id?: string | undefined },
    begin: (place: TaskOutputLocation) => Promise<TaskWork>,
  ): Promise<Task>;
  /** The call waits for it no longer: its end is told like that of any other. */
  move(id: string): Promise<Task | undefined>;
  /** The result of this call tells of its end. */
  tell(id: string): void;
  /** Settles when the host wants this call to go on in the background. */
  sentAway(): Promise<void>;
  list(): readonly Task[];
  find(id: string): Task | undefined;
  /** What it wrote, while the work is in our hands: afterwards its file tells. */
  output(id: string): string | undefined;
  /** Until it has ended, at most `ms`. Whoever waits for the end is told of it here, and not once more by an input. */
  wait(id: string, ms: number, signal: AbortSignal): Promise<Task | undefined>;
  /** Undefined when there is no such task. */
  stop(id: string): Promise<Task | undefined>;
}

/** The tasks of a session, for its calls. */
export interface SessionTasks {
  forCall(callId: string): CallTasks;
  /** Tells the model of an end that it has not heard of, by an input of its own. */
  announce(id: string): void;
  /** Writes down what becomes of the session's team. Settles when that is on disk. */
  note(event: Extract<DurableEvent, { type: "team.changed" }>): Promise<void>;
}

export type Task = {
  readonly id: string;
  readonly status: TaskStatus;
  readonly data: TaskData;
  readonly startedAt: number;
  readonly endedAt: number | undefined;
  /** An end that the model has not heard of is told with the next input. */
  readonly isTold: boolean;
};
