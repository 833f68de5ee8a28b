/**
 * The bridges of a server as they are kept: a file each, readable by the person only, written whole or not at all. Of
 * secrets only sums are kept.
 */
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import * as z from "zod/mini";
import { bridgeConfigSchema, sessionDoneSchema } from "../../protocol/bridge.ts";

const text = z.string();
const opt = z.optional;

const workRecordSchema = z.object({
  /** The id of the session is that of the work: the same work is the same session. */
  session: text,
  createdAt: z.number(),
  /** `given`: until the bridge has it on disk. `taken`: from then on. `refused`: it did not want it. */
  state: z.enum(["given", "taken", "refused", "done"]),
  reason: opt(text),
  status: opt(sessionDoneSchema),
  /** Of the token that was told last, until it is used; then of the key that came with it. */
  tokenSum: opt(text),
  keySum: opt(text),
  title: opt(text),
  model: opt(text),
  /** What it is told first, by an id that its log will know. */
  prompt: opt(z.object({ id: text, text, by: text })),
});
export type WorkRecord = z.infer<typeof workRecordSchema>;

const bridgeRecordSchema = z.object({
  config: bridgeConfigSchema,
  /** Whose it is: no other device may take its place. */
  device: text,
  /** What it called the server by. */
  calledAs: text,
  /** Counts the starts of it that have come. */
  epoch: z.number(),
  /** The ids of the last ones before it. */
  earlier: z._default(z.array(text), []),
  createdAt: z.number(),
  works: z.array(workRecordSchema),
});
export type BridgeRecord = z.infer<typeof bridgeRecordSchema>;

export class BridgeStore {
  readonly #folder: string;
  /** One write after the other, so that the last word is the one that stays. */
  #writing: Promise<void> = Promise.resolve();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** What cannot be read is left where it is. */
  async load(): Promise<readonly BridgeRecord[]> {
    const names = await readdir(this.#folder).catch(() => []);
    const read = await Promise.all(
      names.filter((name) => name.endsWith(".json")).map((name) => this.#read(name)),
    );
    return read.filter((record) => record !== undefined);
  }

  keep(record: BridgeRecord): Promise<void> {
    const line = `${JSON.stringify(record)}\n`;
    return this.#after(async () => {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      const file = this.#file(record.config.environmentId);
      await writeFile(`${file}.new`, line, { mode: 0o600, flush: true });
      await rename(`${file}.new`, file);
    });
  }

  forget(environment: string): Promise<void> {
    return this.#after(() => rm(this.#file(environment), { force: true }));
  }

  /** Resolves when all that was to be kept is. */
  settled(): Promise<void> {
    return this.#writing;
  }

  async #read(name: string): Promise<BridgeRecord | undefined> {
    try {
      const words = await readFile(path.join(this.#folder, name), "utf8");
      const record = bridgeRecordSchema.parse(JSON.parse(words));
      return `${record.config.environmentId}.json` === name ? record : undefined;
    } catch {
      return undefined;
    }
  }

  #after(write: () => Promise<void>): Promise<void> {
    const written = this.#writing.then(write, write);
    this.#writing = written.catch(() => undefined);
    return written;
  }

  #file(environment: string): string {
    return path.join(this.#folder, `${path.basename(environment)}.json`);
  }
}
