/**
 * The workspaces of a home as they are kept: a file each, readable by the person only, written whole or not at all. What
 * a newer Keel wrote into one (another engine, another kind of worker, further fields) stays in it.
 */
import { chmod, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import * as z from "zod/mini";
import { fault } from "../../kernel/fault.ts";
import { jsonSchema } from "../../protocol/message.ts";

const text = z.string();
const opt = z.optional;

const workerRecordSchema = z.looseObject({
  id: text,
  kind: text,
  engine: text,
  name: text,
  createdAt: z.number(),
  command: opt(z.array(text)),
  session: opt(text),
  options: opt(z.record(text, jsonSchema)),
  columns: opt(z.number()),
  rows: opt(z.number()),
  keys: opt(z.boolean()),
});
export type WorkerRecord = z.infer<typeof workerRecordSchema>;

const workspaceRecordSchema = z.looseObject({
  id: text,
  title: text,
  cwd: text,
  folder: text,
  createdAt: z.number(),
  changedAt: z.number(),
  archived: z.boolean(),
  worktree: opt(z.looseObject({ path: text, branch: text, from: text, base: opt(text) })),
  /** Its id is that of a bridge; its folder is there. */
  bridge: opt(z.looseObject({ machine: text })),
  workers: z.array(workerRecordSchema),
});
export type WorkspaceRecord = z.infer<typeof workspaceRecordSchema>;

export class WorkspaceStore {
  readonly #folder: string;
  /** Writes of one workspace follow each other, so that the last word is the one that stays. */
  readonly #writing = new Map<string, Promise<void>>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** What cannot be read is left where it is. */
  async load(): Promise<readonly WorkspaceRecord[]> {
    const names = await readdir(this.#folder).catch(() => []);
    const read = await Promise.all(
      names.filter((name) => name.endsWith(".json")).map((name) => this.#read(name)),
    );
    return read.filter((record) => record !== undefined);
  }

  keep(record: WorkspaceRecord): Promise<void> {
    // As it is now: whoever changes it later keeps it again.
    const line = `${JSON.stringify(record)}\n`;
    return this.#after(record.id, async () => {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      await chmod(this.#folder, 0o700);
      const file = this.#file(record.id);
      await writeFile(`${file}.new`, line, { mode: 0o600, flush: true });
      await rename(`${file}.new`, file);
    });
  }

  forget(id: string): Promise<void> {
    return this.#after(id, () => rm(this.#file(id), { force: true }));
  }

  async #read(name: string): Promise<WorkspaceRecord | undefined> {
    try {
      const words = await readFile(path.join(this.#folder, name), "utf8");
      const record = workspaceRecordSchema.parse(JSON.parse(words));
      return `${record.id}.json` === name ? record : undefined;
    } catch {
      return undefined;
    }
  }

  #after(id: string, write: () => Promise<void>): Promise<void> {
    const before = this.#writing.get(id) ?? Promise.resolve();
    const written = before.then(write, write);
    this.#writing.set(id, written);
    const forget = (): void => {
      if (this.#writing.get(id) === written) this.#writing.delete(id);
    };
    void written.then(forget, forget);
    return written;
  }

  /** Ids are our own; whatever else one were, it stays in the folder. */
  #file(id: string): string {
    return path.join(this.#folder, `${path.basename(id)}.json`);
  }
}

const maxTitle = 200;

/** As it is kept and shown. Throws `usage` for one of no letters. */
export function titleOf(given: string): string {
  const title = given.trim().slice(0, maxTitle);
  if (title === "") throw fault("usage", { reason: "A name has at least one letter." });
  return title;
}
