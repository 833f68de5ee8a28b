/**
 * Adds bytes to the end of a log so that they are on disk, or not there at all. Whatever fails on the way, the file is
 * cut back to its last good end before anything else is written.
 */
import { crc32 } from "node:zlib";
import { fault } from "../../kernel/fault.ts";
import type { Meanwhile } from "../../ports/store.ts";
import { type OpenFile, writeAll } from "./files.ts";
import type { LogPrefix } from "./frame.ts";
import { unwritable } from "./reasons.ts";

/** The end of a log, and the checksum of all before it, where that is known. */
export type LogEnd = Pick<LogPrefix, "bytes"> & { readonly sum: number | undefined };

export class Writer {
  readonly #file: OpenFile;
  readonly #path: string;
  #end: number;
  #sum: number | undefined;
  /** What must stand before the next bytes: a missing line end, or a header. */
  #lead: Buffer;
  /** Bytes of a failed write may stand behind the end. */
  #soiled = false;

  constructor({ file, path, end, lead }: { file: OpenFile; path: string; end: LogEnd; lead: Buffer }) {
    this.#file = file;
    this.#path = path;
    this.#end = end.bytes;
    this.#sum = end.sum;
    this.#lead = lead;
  }

  /** Where the next bytes go. Undefined while something must be mended or written before them. */
  get end(): LogEnd | undefined {
    return this.#soiled || this.#lead.length > 0 ? undefined : { bytes: this.#end, sum: this.#sum };
  }

  /** Resolves to where the bytes start, once they are on disk. Throws `log_unwritable` with nothing added. */
  async write(bytes: Buffer, meanwhile: Meanwhile = () => undefined): Promise<number> {
    try {
      await this.#prepare();
      const whole = this.#lead.length > 0 ? Buffer.concat([this.#lead, bytes]) : bytes;
      this.#soiled = true;
      await writeAll(this.#file, whole, this.#end);
      const synced = this.#file.datasync();
      meanwhile();
      await synced;
      this.#soiled = false;
      const start = this.#end + this.#lead.length;
      this.#end += whole.length;
      if (this.#sum !== undefined) this.#sum = crc32(whole, this.#sum);
      this.#lead = Buffer.alloc(0);
      return start;
    } catch (thrown) {
      await this.#clean();
      throw unwritable(this.#path, thrown);
    }
  }

  async #prepare(): Promise<void> {
    const { bytes, names } = await this.#file.facts();
    if (names === 0) throw fault("log_unwritable", { path: this.#path, reason: "the file was removed" });
    if (bytes === this.#end) return;
    if (!this.#soiled || bytes < this.#end) {
      throw fault("log_unwritable", { path: this.#path, reason: "another program changed the file" });
    }
    await this.#file.truncate(this.#end);
    this.#soiled = false;
  }

  async #clean(): Promise<void> {
    if (!this.#soiled) return;
    try {
      await this.#file.truncate(this.#end);
      this.#soiled = false;
    } catch {
      // The next write tries again first; until then nothing behind the end counts.
    }
  }
}

/**
 * One write at a time; what arrives while it runs shares the next one, so that many small appends cost few syncs.
 * When a write fails, everything that waits behind it is refused too: it would not follow on what is on disk.
 */
type Waiting<T> = {
  readonly batch: T;
  readonly resolve: () => void;
  readonly reject: (why: unknown) => void;
};

export class GroupCommit<T> {
  readonly #commit: (batches: readonly T[]) => Promise<void>;
  readonly #onRefused: () => void;
  #waiting: Waiting<T>[] = [];
  #running: Promise<void> | undefined;

  /** `onRefused` is called after a failed commit, before anybody hears of it: nothing waits at that moment. */
  constructor({
    commit,
    onRefused,
  }: { commit: (batches: readonly T[]) => Promise<void>; onRefused: () => void }) {
    this.#commit = commit;
    this.#onRefused = onRefused;
  }

  /** Resolves when the batch was committed. */
  add(batch: T): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push({ batch, resolve, reject });
    this.#running ??= this.#drain();
    return promise;
  }

  /** Resolves when everything added so far was committed or refused. */
  async idle(): Promise<void> {
    await this.#running;
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      try {
        await this.#commit(group.map(({ batch }) => batch));
      } catch (thrown) {
        const refused = [...group, ...this.#waiting];
        this.#waiting = [];
        this.#onRefused();
        for (const { reject } of refused) reject(thrown);
        continue;
      }
      for (const { resolve } of group) resolve();
    }
    this.#running = undefined;
  }
}
