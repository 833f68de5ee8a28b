/**
 * Schedules as files: one each, and one for each due time that was claimed. A claim is a name that can be made once; what
 * it holds is written before it has that name, so nobody sees half of it, whatever ends the process.
 */
import { link, mkdir, open, readdir, readFile, rename, rm, unlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { codeOf } from "../../kernel/fault.ts";
import type { ScheduleBook } from "../../ports/schedules.ts";
import {
  type Schedule,
  type ScheduledRun,
  scheduledRunSchema,
  scheduleSchema,
} from "../../protocol/schedule.ts";
import { keptRuns, oldEnough } from "./kept-runs.ts";

const suffix = ".json";
/** A file of its own says that a run is replaced: whoever says it does not write what the run writes. */
const mark = ".replaced";

export class FileBook implements ScheduleBook {
  readonly #folder: string;
  #count = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async list(): Promise<readonly Schedule[]> {
    const ids = (await names(this.#folder)).flatMap((name) => idIn(name) ?? []);
    const found = await Promise.all(ids.map((id) => this.find(id)));
    return found.filter((schedule) => schedule !== undefined);
  }

  async find(id: string): Promise<Schedule | undefined> {
    const { success, data } = scheduleSchema.safeParse(await readJson(this.#scheduleFile(id)));
    return success && data.id === id ? data : undefined;
  }

  async keep(schedule: Schedule): Promise<void> {
    await this.#replace(this.#scheduleFile(schedule.id), schedule);
  }

  async remove(id: string): Promise<boolean> {
    const isGone = await unlink(this.#scheduleFile(id)).then(
      () => true,
      () => false,
    );
    await rm(this.#runFolder(id), { recursive: true, force: true });
    return isGone;
  }

  async runs(id: string): Promise<readonly ScheduledRun[]> {
    const folder = this.#runFolder(id);
    const dues = (await names(folder)).flatMap((name) => dueIn(name) ?? []).sort((a, b) => a - b);
    const found = await Promise.all(dues.map((due) => readJson(path.join(folder, `${due}${suffix}`))));
    const runs = found.flatMap((data) => scheduledRunSchema.safeParse(data).data ?? []);
    const marks = new Set((await names(folder)).filter((name) => name.endsWith(mark)));
    return runs.map((run) => (marks.has(`${run.due}${mark}`) ? { ...run, replaced: true } : run));
  }

  async claim(run: ScheduledRun): Promise<boolean> {
    const folder = this.#runFolder(run.schedule);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    // Claims only go up: one that is lower belongs to somebody who looked long ago.
    if ((await names(folder)).some((name) => (dueIn(name) ?? -1) >= run.due)) return false;
    const fresh = this.#freshName(folder);
    await writeFile(fresh, toText(run), { mode: 0o600, flush: true });
    try {
      await link(fresh, path.join(folder, `${run.due}${suffix}`));
      await syncFolder(folder);
      return true;
    } catch (thrown) {
      if (codeOf(thrown) === "EEXIST") return false;
      throw thrown;
    } finally {
      await unlink(fresh).catch(() => undefined);
    }
  }

  async update(run: ScheduledRun): Promise<void> {
    const folder = this.#runFolder(run.schedule);
    const file = path.join(folder, `${run.due}${suffix}`);
    // What was removed meanwhile does not come back.
    if ((await readJson(file)) === undefined) return;
    await this.#replace(file, run);
    if (run.end) await this.#prune(run.schedule, run.end.at);
  }

  async replace({ schedule, due }: Pick<ScheduledRun, "schedule" | "due">): Promise<void> {
    const folder = this.#runFolder(schedule);
    if ((await readJson(path.join(folder, `${due}${suffix}`))) === undefined) return;
    await writeFile(path.join(folder, `${due}${mark}`), "", { mode: 0o600, flush: true });
    await syncFolder(folder);
  }

  async close(): Promise<void> {
    // Nothing is held open between two calls.
  }

  async #prune(id: string, now: number): Promise<void> {
    const ended = (await this.runs(id)).filter(({ end }) => end);
    for (const run of ended.slice(0, -keptRuns).filter((each) => oldEnough(each, now)))
      for (const end of [suffix, mark])
        await unlink(path.join(this.#runFolder(id), `${run.due}${end}`)).catch(() => undefined);
  }

  async #replace(file: string, value: object): Promise<void> {
    const folder = path.dirname(file);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const fresh = this.#freshName(folder);
    await writeFile(fresh, toText(value), { mode: 0o600, flush: true });
    await rename(fresh, file);
    await syncFolder(folder);
  }

  /** Nobody else's, and no name of a schedule or a due time. */
  #freshName(folder: string): string {
    return path.join(folder, `.new-${process.pid}-${++this.#count}-${Date.now().toString(36)}`);
  }

  #scheduleFile(id: string): string {
    return path.join(this.#folder, `${path.basename(id)}${suffix}`);
  }

  #runFolder(id: string): string {
    return path.join(this.#folder, "runs", path.basename(id));
  }
}

const toText = (value: object): string => `${JSON.stringify(value)}\n`;
const names = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);
const idIn = (name: string): string | undefined => /^([a-z0-9][a-z0-9-]{0,63})\.json$/.exec(name)?.[1];
const dueIn = (name: string): number | undefined => {
  const [, digits] = /^(\d{1,16})\.json$/.exec(name) ?? [];
  return digits === undefined ? undefined : Number(digits);
};

async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch {
    return undefined;
  }
}

/** A new name is on disk with its folder. Not every system can do it for a folder. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r").catch(() => undefined);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}
