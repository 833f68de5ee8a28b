/**
 * The memory index: what conversations said, in a file of its own that is made from their logs and can be deleted at any
 * moment. One piece of work at a time, in slices that leave the loop free; a search does not wait for them.
 */
import { rm } from "node:fs/promises";
import { codeOf, toFault } from "../kernel/fault.ts";
import type { Clock } from "../ports/clock.ts";
import type {
  Embedder,
  Forgotten,
  MemoryChunk,
  MemoryFindings,
  MemoryForgetting,
  MemoryIndex,
  MemorySearch,
  MemoryStats,
} from "../ports/memory-index.ts";
import type { Durable } from "../protocol/event/durable.ts";
import { EmbeddedChunks } from "./embedded-chunks.ts";
import { findChunks, newestChunks } from "./find-chunks.ts";
import { type MemoryFile, type MemoryStatements, numberIn, textIn, turnMs } from "./tables.ts";
import { erase, forgottenIn, nextRound, takeIn, uptoOf } from "./take-in.ts";

/** The logs that the index is made from. */
export type MemoryLogs = {
  list(): Promise<readonly LoggedSession[]>;
  /** Undefined for one that is not there. */
  find(session: string): Promise<LoggedSession | undefined>;
  read(session: string, after: number): AsyncIterable<Durable>;
  /** Writes down that these events are to be forgotten. */
  sayForgotten(session: string, events: readonly number[]): Promise<"said" | "busy" | "gone">;
};

export type LoggedSession = { readonly id: string; readonly cwd: string; readonly changedAt: number };

export type MemoryIndexOptions = {
  readonly file: MemoryFile;
  readonly logs: MemoryLogs;
  readonly clock: Clock;
  /** Keys that are known: they are nowhere kept. */
  readonly secrets: readonly string[];
  /** Loaded when it is first needed; left out where only words are looked for. */
  readonly embedder?: { readonly id: string; open(): Promise<Embedder> } | undefined;
  /** For a person: what is done in the background, and what cannot be. */
  readonly tell?: ((words: string) => void) | undefined;
};

/** What one change takes in before others may do something. */
const sliceCharacters = 24_000;
const sliceEvents = 64;
/** What is nearly done is done before the end. */
const closeMs = 1_000;
const checkpointTries = 250;
const checkpointPauseMs = 20;

export function openMemoryIndex(options: MemoryIndexOptions): MemoryIndex {
  return new FileMemoryIndex(options);
}

class FileMemoryIndex implements MemoryIndex {
  readonly #options: MemoryIndexOptions;
  readonly #embedded: EmbeddedChunks | undefined;
  readonly #waiting = new Map<string, Promise<void>>();
  readonly #ended = new AbortController();
  #queue: Promise<unknown> = Promise.resolve();
  #busy = 0;

  constructor(options: MemoryIndexOptions) {
    this.#options = options;
    const { embedder } = options;
    this.#embedded = embedder && new EmbeddedChunks({ ...options, embedder, signal: this.#ended.signal });
  }

  index(session: string): Promise<void> {
    const known = this.#waiting.get(session);
    if (known !== undefined) return known;
    const work = this.#inTurn(async () => {
      this.#waiting.delete(session);
      await this.#quietly(async () => {
        const info = await this.#options.logs.find(session);
        if (info) await this.#take(info);
      });
      await this.#embedded?.embedMissing();
    });
    this.#waiting.set(session, work);
    return work;
  }

  catchUp(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#quietly(() => this.#takeAll());
      await this.#embedded?.embedMissing();
    });
  }

  async search(wanted: MemorySearch, signal?: AbortSignal): Promise<MemoryFindings> {
    if (!this.#options.file.exists()) return { found: [], by: "words" };
    const { words, waitMs } = wanted;
    const meaning = await this.#embedded?.meaningOf(words, { waitMs, signal });
    const found = await this.#mended(() =>
      this.#options.file.read((run) => findChunks(run, wanted, meaning)),
    );
    return { found, by: meaning ? "words and meaning" : "words" };
  }

  async newest(limit: number): Promise<readonly MemoryChunk[]> {
    const { file } = this.#options;
    return file.exists() ? this.#mended(() => file.read((run) => newestChunks(run, limit))) : [];
  }

  forget(what: MemoryForgetting): Promise<Forgotten> {
    return this.#inTurn(async () => {
      // What is not taken in yet may hold the words too.
      if ("words" in what) await this.#takeAll();
      const { file, logs } = this.#options;
      const events = await file.read((run) => eventsOf(run, what));
      const told = { said: [] as string[], busy: [] as string[], gone: [] as string[] };
      let chunks = 0;
      for (const [session, seqs] of events) {
        const answer = await logs.sayForgotten(session, seqs);
        told[answer].push(session);
        if (answer !== "busy") chunks += await file.change((run) => erase(run, session, seqs));
      }
      if (chunks > 0) await this.#leaveNothing();
      return { chunks, sessions: told.said, busy: told.busy };
    });
  }

  drop(session: string): Promise<void> {
    return this.#inTurn(async () => {
      const { file } = this.#options;
      if (!file.exists()) return;
      const gone = await this.#mended(() => file.change((run) => erase(run, session, "all")));
      if (gone > 0) await this.#leaveNothing();
    });
  }

  async stats(): Promise<MemoryStats> {
    const { file, embedder } = this.#options;
    const work = this.#busy > 0 ? (this.#embedded?.isRenewing ? "rebuilding" : "indexing") : "idle";
    const none = { chunks: 0, sessions: 0, bytes: 0, embedded: 0 };
    const counted = file.exists()
      ? await this.#mended(() =>
          file.read((run) => ({
            chunks: numberIn(run.get("SELECT count(*) AS n FROM chunks"), "n"),
            sessions: numberIn(run.get("SELECT count(DISTINCT session) AS n FROM chunks"), "n"),
            bytes: numberIn(run.get("PRAGMA page_count"), "page_count") * pageBytes(run),
            embedded: this.#embedded?.count(run) ?? 0,
          })),
        )
      : none;
    return { ...counted, embedder: embedder?.id, work };
  }

  async rebuild(): Promise<MemoryStats> {
    await this.#inTurn(async () => {
      const { file } = this.#options;
      if (file.exists())
        await this.#mended(async () => {
          await file.change((run) => {
            run.exec(
              "INSERT INTO words(words) VALUES('delete-all'); DELETE FROM vectors; DELETE FROM chunks",
            );
            run.exec("DELETE FROM sessions; DELETE FROM embedders");
            nextRound(run);
          });
          await this.#leaveNothing();
        });
      await this.#takeAll();
      await this.#embedded?.embedMissing();
    });
    return this.stats();
  }

  /** What does not end soon ends after its slice: whoever opens the index next goes on from there. */
  async close(): Promise<void> {
    const over = new AbortController();
    await Promise.race([this.#queue, this.#options.clock.sleep(closeMs, over.signal)]);
    over.abort();
    this.#ended.abort();
    await this.#queue;
    await this.#embedded?.close();
    this.#options.file.close();
  }

  async #takeAll(): Promise<void> {
    const { file, logs } = this.#options;
    const there = await logs.list();
    const known = await this.#mended(() => file.read((run) => run.all("SELECT id, changed FROM sessions")));
    const changed = new Map(known.map((row) => [textIn(row, "id"), numberIn(row, "changed")]));
    for (const info of there) {
      if (this.#ended.signal.aborted) return;
      if (info.changedAt > (changed.get(info.id) ?? -1)) await this.#take(info);
      changed.delete(info.id);
    }
    // Their logs are gone: nothing of them is to be found any more.
    for (const id of changed.keys()) await file.change((run) => erase(run, id, "all"));
    if (changed.size > 0) await this.#leaveNothing();
  }

  async #take({ id, cwd, changedAt }: LoggedSession): Promise<void> {
    const { logs, file, secrets } = this.#options;
    const upto = await this.#mended(() => file.read((run) => uptoOf(run, id)));
    // Known before anything is taken in: what was forgotten is not written, not even for a moment.
    const forgotten = new Set<number>();
    for await (const event of logs.read(id, upto)) for (const seq of forgottenIn([event])) forgotten.add(seq);
    const before = [...forgotten].filter((seq) => seq <= upto);
    if (before.length > 0 && (await file.change((run) => erase(run, id, before))) > 0)
      await this.#leaveNothing();
    let slice: Durable[] = [];
    let characters = 0;
    // Only what comes last says that the log was looked at as it is now: whoever is killed before that goes on here.
    const flush = async (changed: number): Promise<void> => {
      const events = slice;
      const session = { id, cwd, changed };
      slice = [];
      characters = 0;
      await file.change((run) => takeIn(run, session, events, { forgotten, secrets }));
      await this.#options.clock.sleep(turnMs, this.#ended.signal);
    };
    for await (const event of logs.read(id, upto)) {
      if (this.#ended.signal.aborted) return;
      slice.push(event);
      characters += sizeOf(event);
      if (characters > sliceCharacters || slice.length === sliceEvents) await flush(0);
    }
    await flush(changedAt);
  }

  /** What was deleted leaves no byte: not in the file, and not in what was written ahead of it. */
  async #leaveNothing(): Promise<void> {
    const { file, clock, tell } = this.#options;
    await file.read((run) => run.exec("VACUUM"));
    // Somebody may still read what was there before: tried again until they are done.
    for (let tries = 0; tries < checkpointTries; tries++) {
      const { busy } = (await file.read((run) => run.get("PRAGMA wal_checkpoint(TRUNCATE)"))) ?? {};
      if (Number(busy) === 0) return;
      await clock.sleep(checkpointPauseMs, this.#ended.signal);
    }
    tell?.("Another process reads the memory index: bytes of what was forgotten go when it has ended.");
  }

  /** A file that is damaged is made anew. */
  async #mended<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (thrown) {
      if (codeOf(thrown) !== "EBADMSG") throw thrown;
      const { file, tell } = this.#options;
      tell?.("The memory index was damaged and is made anew from the logs.");
      file.close();
      for (const end of ["", "-wal", "-shm"]) await rm(`${file.path}${end}`, { force: true });
      void this.catchUp();
      return work();
    }
  }

  async #quietly(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (thrown) {
      this.#options.tell?.(`The memory index could not be brought up to date: ${toFault(thrown).message}`);
    }
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    this.#busy++;
    const done = this.#queue.then(work).finally(() => {
      this.#busy--;
    });
    this.#queue = done.catch(() => undefined);
    return done;
  }
}

const pageBytes = (run: MemoryStatements): number => numberIn(run.get("PRAGMA page_size"), "page_size");

/** About as many characters as it has to be cut and looked through. */
function sizeOf(event: Durable): number {
  const content =
    event.type === "input.accepted" ? event.input.content : "content" in event ? event.content : [];
  return content.reduce((sum, block) => sum + (block.type === "text" ? block.text.length : 0), 0);
}

/** Which events of which sessions hold it. */
function eventsOf(run: MemoryStatements, what: MemoryForgetting): Map<string, number[]> {
  const select =
    "SELECT DISTINCT sessions.id AS name, seq FROM chunks JOIN sessions ON sessions.number = chunks.session WHERE";
  const rows =
    "chunks" in what
      ? run.all(`${select} chunks.id IN (SELECT value FROM json_each(?))`, JSON.stringify(what.chunks))
      : "session" in what
        ? run.all(`${select} sessions.id = ?`, what.session)
        : run.all(`${select} instr(lower(text), lower(?)) > 0`, what.words);
  const events = new Map<string, number[]>();
  for (const row of rows) {
    const session = textIn(row, "name");
    events.set(session, [...(events.get(session) ?? []), numberIn(row, "seq")]);
  }
  return events;
}
