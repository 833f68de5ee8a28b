/** Chunks with their vectors: made in the background by the embedder of now, and looked for with one deadline. */

import { toFault } from "../kernel/fault.ts";
import type { Clock } from "../ports/clock.ts";
import type { Embedder } from "../ports/memory-index.ts";
import type { ByMeaning } from "./find-chunks.ts";
import { type MemoryFile, type MemoryStatements, numberIn, textIn, turnMs } from "./tables.ts";
import { nextRound } from "./take-in.ts";
import { packVector, VectorScan } from "./vectors.ts";

/** After this the words go alone, unless somebody says otherwise. */
const questionMs = 100;
/** Of vectors that are read before the first search: some milliseconds, and then others may do something. */
const readAtOnce = 2_000;
/** A model that is loaded from disk takes longer than a question may. */
const batchSize = 16;

export type EmbeddedOptions = {
  readonly file: MemoryFile;
  readonly clock: Clock;
  readonly embedder: { readonly id: string; open(): Promise<Embedder> };
  readonly signal: AbortSignal;
  readonly tell?: ((words: string) => void) | undefined;
};

export class EmbeddedChunks {
  readonly #options: EmbeddedOptions;
  #embedder: Promise<Embedder> | undefined;
  #scan: { readonly number: number; readonly dimensions: number; readonly scan: VectorScan } | undefined;
  #renews = false;
  #told = false;

  constructor(options: EmbeddedOptions) {
    this.#options = options;
  }

  /** The vectors of another embedder are being replaced. */
  get isRenewing(): boolean {
    return this.#renews;
  }

  count(run: MemoryStatements): number {
    const { id } = this.#options.embedder;
    const sql =
      "SELECT count(*) AS n FROM vectors JOIN embedders ON embedders.number = vectors.embedder WHERE embedders.id = ?";
    return numberIn(run.get(sql, id), "n");
  }

  /** Undefined where the embedder has not answered in time, or nothing was embedded yet. */
  async meaningOf(
    words: string,
    { waitMs = questionMs, signal }: { waitMs?: number | undefined; signal?: AbortSignal | undefined } = {},
  ): Promise<ByMeaning | undefined> {
    const { clock, file, embedder } = this.#options;
    const over = new AbortController();
    const stop = (): void => over.abort();
    signal?.addEventListener("abort", stop, { once: true });
    try {
      const late = clock.sleep(waitMs, over.signal).then(() => undefined);
      const made = this.#open()
        .then((open) => open.embed([words], "question", over.signal))
        .catch(() => undefined);
      const [question] = (await Promise.race([made, late])) ?? [];
      if (!question) return undefined;
      const scan = await file.read((run) => this.#scanOf(run, embedder.id, question.length));
      if (!scan) return undefined;
      while (await file.read((run) => scan.catchUp(run, readAtOnce)))
        await clock.sleep(turnMs, this.#options.signal);
      return { scan, question };
    } finally {
      signal?.removeEventListener("abort", stop);
      over.abort();
    }
  }

  /** Never throws: what is not embedded is found by its words. */
  async embedMissing(): Promise<void> {
    const { signal, tell, embedder } = this.#options;
    try {
      await this.#say();
      while (!signal.aborted && (await this.#embedSome())) await this.#options.clock.sleep(turnMs, signal);
      this.#renews = false;
    } catch (thrown) {
      if (!this.#told) tell?.(`Memory is found by words only: ${embedder.id}: ${toFault(thrown).message}`);
      this.#told = true;
    }
  }

  async close(): Promise<void> {
    const open = await this.#embedder?.catch(() => undefined);
    await open?.close();
  }

  #open(): Promise<Embedder> {
    this.#embedder ??= this.#options.embedder.open();
    this.#embedder.catch(() => {
      this.#embedder = undefined;
    });
    return this.#embedder;
  }

  async #say(): Promise<void> {
    const { file, embedder, tell } = this.#options;
    const others = await file.read((run) =>
      run.all(
        "SELECT embedders.id AS id FROM embedders WHERE id <> ? AND EXISTS(SELECT 1 FROM vectors WHERE embedder = embedders.number)",
        embedder.id,
      ),
    );
    const [other] = others;
    if (!other || this.#renews) return;
    this.#renews = true;
    tell?.(
      `Memory is embedded anew in the background, by ${embedder.id} in place of ${textIn(other, "id")}; words find everything meanwhile.`,
    );
  }

  /** False when all have a vector of this embedder. */
  async #embedSome(): Promise<boolean> {
    const { file, embedder, signal } = this.#options;
    const rows = await file.read((run) =>
      run.all(
        "SELECT chunks.id AS id, text FROM chunks LEFT JOIN vectors ON vectors.chunk = chunks.id LEFT JOIN embedders ON embedders.number = vectors.embedder WHERE embedders.id IS NOT ? ORDER BY chunks.id LIMIT ?",
        embedder.id,
        batchSize,
      ),
    );
    if (rows.length === 0) return false;
    const texts = rows.map((row) => textIn(row, "text"));
    const made = await (await this.#open()).embed(texts, "text", signal);
    await file.change((run) => {
      let hasReplaced = false;
      for (const [at, row] of rows.entries()) {
        const vector = made[at];
        const id = numberIn(row, "id");
        // Forgotten meanwhile: it gets no vector.
        if (!vector || !run.get("SELECT 1 FROM chunks WHERE id = ?", id)) continue;
        const { signs, bytes } = packVector(vector);
        const number = embedderNumber(run, embedder.id, vector.length);
        hasReplaced ||= run.get("SELECT 1 FROM vectors WHERE chunk = ?", id) !== undefined;
        run.run("INSERT OR REPLACE INTO vectors VALUES(?, ?, ?, ?)", id, number, signs, bytes);
      }
      if (hasReplaced) nextRound(run);
    });
    return rows.length === batchSize;
  }

  #scanOf(run: MemoryStatements, id: string, dimensions: number): VectorScan | undefined {
    const found = run.get("SELECT number FROM embedders WHERE id = ? AND dimensions = ?", id, dimensions);
    if (!found) return undefined;
    const number = numberIn(found, "number");
    if (this.#scan?.number !== number || this.#scan.dimensions !== dimensions)
      this.#scan = { number, dimensions, scan: new VectorScan(number) };
    return this.#scan.scan;
  }
}

function embedderNumber(run: MemoryStatements, id: string, dimensions: number): number {
  run.run("INSERT INTO embedders(id, dimensions) VALUES(?, ?) ON CONFLICT DO NOTHING", id, dimensions);
  return numberIn(
    run.get("SELECT number FROM embedders WHERE id = ? AND dimensions = ?", id, dimensions),
    "number",
  );
}
