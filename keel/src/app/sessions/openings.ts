/** What the sessions of a server were opened with, so that after a restart they come back the same. */
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import * as z from "zod/mini";
import { jsonSchema } from "../../protocol/message.ts";

const openingSchema = z.object({
  cwd: z.string(),
  options: z.record(z.string(), jsonSchema),
  /** `few`: of the server's environment it has keys of providers and what programs need, and nothing else. */
  env: z.optional(z.literal("few")),
});
export type Opening = z.infer<typeof openingSchema>;

/** Undefined for what is none: then the log's own word counts. */
export const openingOf = (kept: unknown): Opening | undefined => openingSchema.safeParse(kept).data;

export type OpeningBook = {
  keep(id: string, opening: Opening): Promise<void>;
  /** Undefined where nothing was kept, or nothing that can be read. */
  read(id: string): Promise<Opening | undefined>;
  /** Of which sessions something is kept that an earlier start of this server may have left. */
  ids(): Promise<string[]>;
  forget(id: string): Promise<void>;
};

/** A file each, readable by the person only. */
export class Openings implements OpeningBook {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async keep(id: string, opening: Opening): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const file = this.#file(id);
    const fresh = `${file}.new`;
    await writeFile(fresh, `${JSON.stringify(opening)}\n`, { mode: 0o600, flush: true });
    await rename(fresh, file);
  }

  /** Undefined where nothing was kept, or nothing that can be read: then the log's own word counts. */
  async read(id: string): Promise<Opening | undefined> {
    try {
      return openingSchema.parse(JSON.parse(await readFile(this.#file(id), "utf8")));
    } catch {
      return undefined;
    }
  }

  /** Of which sessions something is kept. */
  async ids(): Promise<string[]> {
    const names = await readdir(this.#folder).catch(() => []);
    return names.flatMap((name) => /^([0-9a-f-]{36})\.json$/.exec(name)?.[1] ?? []);
  }

  async forget(id: string): Promise<void> {
    await rm(this.#file(id), { force: true });
  }

  /** An id is a UUID by the time it is kept; whatever else it were, it stays in the folder. */
  #file(id: string): string {
    return path.join(this.#folder, `${path.basename(id)}.json`);
  }
}
