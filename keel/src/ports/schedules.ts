/** Where schedules and their due times are kept. */

import type { Result } from "../kernel/result.ts";
import type { Schedule, ScheduledRun, ScheduleEntry } from "../protocol/schedule.ts";
import type { PermissionMode } from "../protocol/settings.ts";

/** Common to all processes of a home. */
export interface ScheduleBook {
  list(): Promise<readonly Schedule[]>;
  find(id: string): Promise<Schedule | undefined>;
  /** Makes it, or puts it in the place of the one before. On disk when it resolves. */
  keep(schedule: Schedule): Promise<void>;
  /** With all that is known of its runs. False where there was none. */
  remove(id: string): Promise<boolean>;
  /** The runs that are known of it, by their due times: all that are open, and the last that are not. */
  runs(id: string): Promise<readonly ScheduledRun[]>;
  /** True for one caller only, of whatever process and whenever: the due time is theirs. On disk when it resolves. */
  claim(run: ScheduledRun): Promise<boolean>;
  /** What became of it since, by whoever runs it. Nothing where its schedule is gone. */
  update(run: ScheduledRun): Promise<void>;
  /** A later due time wants it to end. Others do this while it runs: nothing of what `update` says is lost, either way. */
  replace(run: Pick<ScheduledRun, "schedule" | "due">): Promise<void>;
  close(): Promise<void>;
}

/** A schedule as a model asks for it. */
export type ScheduleOrder = {
  readonly prompt: string;
  readonly kind: "cron" | "interval" | "once";
  /** An expression, a duration, or a time with its offset. */
  readonly value: string;
  /** Of an expression. */
  readonly zone: string | undefined;
  readonly name: string | undefined;
  /** This session is told; otherwise each due time has one of its own. */
  readonly here: boolean;
};

/** Whose call it is. */
export type Scheduling = { readonly session: string; readonly mode: PermissionMode };

/** Schedules as the models of a folder's sessions make, see and end them. What cannot be is a sentence. */
export interface Schedules {
  add(order: ScheduleOrder, by: Scheduling): Promise<Result<string>>;
  /** Those of the folder, a sentence each. */
  list(by: Scheduling): Promise<readonly string[]>;
  /** Its own alone: a person's is a person's to end. */
  cancel(id: string, by: Scheduling): Promise<Result<string>>;
  /** Those of the home, for a person who looks. */
  entries(): Promise<readonly ScheduleEntry[]>;
}
