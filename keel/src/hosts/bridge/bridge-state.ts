/**
 * What a bridge must know after a restart: under which id its folder is registered, and which sessions it has, with the
 * key of each. A file for each server and folder, readable by the person only.
 */
import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import * as z from "zod/mini";
import { parseJson } from "../../kernel/json.ts";
import { fingerprint } from "../../kernel/text.ts";
import { sessionDoneSchema } from "../../protocol/bridge.ts";

const text = z.string();
const opt = z.optional;

const spawnedRecordSchema = z.object({
  id: text,
  /** By which the server knows the session as ours, once it was told. */
  key: text,
  /** What lets it in the first time. */
  token: opt(text),
  cwd: text,
  model: opt(text),
  title: opt(text),
  worktree: opt(z.object({ path: text, branch: text, from: text, base: opt(text) })),
  /** `ending`: it was closed for good, and the server does not know all of it yet. */
  state: z.enum(["open", "ending", "done"]),
  status: opt(sessionDoneSchema),
});
export type SpawnedRecord = z.infer<typeof spawnedRecordSchema>;

const stateSchema = z.object({
  environmentId: z.uuid(),
  url: text,
  dir: text,
  sessions: z.array(spawnedRecordSchema),
});

/** Sessions that are over are remembered for a while, so that the same work is not begun again. */
const maxDone = 200;

export class BridgeState {
  readonly environmentId: string;
  readonly #file: string;
  readonly #place: { readonly url: string; readonly dir: string };
  #sessions: readonly SpawnedRecord[];
  #writing: Promise<void> = Promise.resolve();

  private constructor(file: string, { environmentId, sessions, ...place }: z.infer<typeof stateSchema>) {
    this.#file = file;
    this.environmentId = environmentId;
    this.#sessions = sessions;
    this.#place = { url: place.url, dir: place.dir };
  }

  static async open(
    folder: string,
    place: { readonly url: string; readonly dir: string },
  ): Promise<BridgeState> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const file = path.join(folder, `${fingerprint(`${place.url} ${place.dir}`).slice(0, 24)}.json`);
    const kept = await readFile(file, "utf8").catch(() => undefined);
    const parsed = kept === undefined ? undefined : stateSchema.safeParse(parseJson(kept)).data;
    const state = new BridgeState(file, parsed ?? { environmentId: randomUUID(), ...place, sessions: [] });
    await state.#write();
    return state;
  }

  get sessions(): readonly SpawnedRecord[] {
    return this.#sessions;
  }

  find(id: string): SpawnedRecord | undefined {
    return this.#sessions.find((record) => record.id === id);
  }

  /** In place of what was known of the session. */
  async keep(record: SpawnedRecord): Promise<void> {
    const others = this.#sessions.filter(({ id }) => id !== record.id);
    const done = others.filter(({ state }) => state === "done").slice(-maxDone);
    this.#sessions = [...done, ...others.filter(({ state }) => state !== "done"), record];
    await this.#write();
  }

  async forget(id: string): Promise<void> {
    this.#sessions = this.#sessions.filter((record) => record.id !== id);
    await this.#write();
  }

  /** Resolves when all that was to be kept is. */
  settled(): Promise<void> {
    return this.#writing;
  }

  #write(): Promise<void> {
    const line = `${JSON.stringify({ environmentId: this.environmentId, ...this.#place, sessions: this.#sessions })}\n`;
    const write = async (): Promise<void> => {
      await writeFile(`${this.#file}.new`, line, { mode: 0o600, flush: true });
      await rename(`${this.#file}.new`, this.#file);
    };
    const written = this.#writing.then(write, write);
    this.#writing = written.catch(() => undefined);
    return written;
  }
}
