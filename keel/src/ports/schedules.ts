/** Where schedules and their due times are kept. */
import type { Schedule, ScheduledRun } from "../protocol/schedule.ts";

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
  /** What became of it since. Nothing where its schedule is gone. */
  update(run: ScheduledRun): Promise<void>;
  close(): Promise<void>;
}
