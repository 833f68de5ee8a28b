/** Schedules as rows of a database: a claim is a row that can be put in once. */
import type { ScheduleBook } from "../../ports/schedules.ts";
import {
  type Schedule,
  type ScheduledRun,
  scheduledRunSchema,
  scheduleSchema,
} from "../../protocol/schedule.ts";
import { SharedDatabase, type SqlRow } from "../sqlite/database.ts";
import { keptRuns, oldEnough } from "./kept-runs.ts";

const tables = `
CREATE TABLE schedules (id TEXT PRIMARY KEY, data TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE runs (
  schedule TEXT NOT NULL,
  due INTEGER NOT NULL,
  data TEXT NOT NULL,
  PRIMARY KEY (schedule, due)
) STRICT, WITHOUT ROWID`;

export class SqliteBook implements ScheduleBook {
  readonly #database: SharedDatabase;

  constructor(path: string) {
    this.#database = new SharedDatabase({ path, tables, version: 1, sync: "full" });
  }

  async list(): Promise<readonly Schedule[]> {
    const rows = await this.#database.read((run) => run.all("SELECT data FROM schedules ORDER BY id"));
    return rows.flatMap((row) => scheduleSchema.safeParse(dataIn(row)).data ?? []);
  }

  async find(id: string): Promise<Schedule | undefined> {
    const row = await this.#database.read((run) => run.get("SELECT data FROM schedules WHERE id = ?", id));
    return row && scheduleSchema.safeParse(dataIn(row)).data;
  }

  async keep(schedule: Schedule): Promise<void> {
    await this.#database.change((run) =>
      run.run("INSERT OR REPLACE INTO schedules VALUES (?, ?)", schedule.id, JSON.stringify(schedule)),
    );
  }

  remove(id: string): Promise<boolean> {
    return this.#database.change((run) => {
      run.run("DELETE FROM runs WHERE schedule = ?", id);
      return run.run("DELETE FROM schedules WHERE id = ?", id).changes > 0;
    });
  }

  async runs(id: string): Promise<readonly ScheduledRun[]> {
    const rows = await this.#database.read((run) =>
      run.all("SELECT data FROM runs WHERE schedule = ? ORDER BY due", id),
    );
    return rows.flatMap((row) => scheduledRunSchema.safeParse(dataIn(row)).data ?? []);
  }

  claim(wanted: ScheduledRun): Promise<boolean> {
    const { schedule, due } = wanted;
    return this.#database.change((run) => {
      // Claims only go up: one that is lower belongs to somebody who looked long ago.
      const last = run.get("SELECT max(due) AS due FROM runs WHERE schedule = ?", schedule)?.["due"];
      if (typeof last === "number" && last >= due) return false;
      return run.run("INSERT INTO runs VALUES (?, ?, ?)", schedule, due, JSON.stringify(wanted)).changes > 0;
    });
  }

  replace(wanted: Pick<ScheduledRun, "schedule" | "due">): Promise<void> {
    return this.#change(wanted, (known) => ({ ...known, replaced: true }));
  }

  async update(changed: ScheduledRun): Promise<void> {
    const { schedule, end } = changed;
    await this.#change(changed, ({ replaced }) => (replaced ? { ...changed, replaced } : changed));
    if (!end) return;
    const ended = (await this.runs(schedule)).filter((each) => each.end);
    const old = ended.slice(0, -keptRuns).filter((each) => oldEnough(each, end.at));
    if (old.length === 0) return;
    await this.#database.change((run) => {
      for (const each of old) run.run("DELETE FROM runs WHERE schedule = ? AND due = ?", schedule, each.due);
    });
  }

  #change(
    { schedule, due }: Pick<ScheduledRun, "schedule" | "due">,
    change: (known: ScheduledRun) => ScheduledRun,
  ): Promise<void> {
    return this.#database.change((run) => {
      const row = run.get("SELECT data FROM runs WHERE schedule = ? AND due = ?", schedule, due);
      const { data: known } = scheduledRunSchema.safeParse(row && dataIn(row));
      if (!known) return;
      const data = JSON.stringify(change(known));
      run.run("UPDATE runs SET data = ? WHERE schedule = ? AND due = ?", data, schedule, due);
    });
  }

  async close(): Promise<void> {
    this.#database.close();
  }
}

function dataIn(row: SqlRow): unknown {
  try {
    return JSON.parse(String(row["data"]));
  } catch {
    return undefined;
  }
}
