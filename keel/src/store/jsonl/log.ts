/**
 * The open log of one session in a JSON lines file. Its file, its lock and its sealed end are made ready when it is
 * opened; where that fails (a full disk, a read-only home) the log can still be read, says so, and tries again at the
 * next append. A log that rests keeps its lock and where it ends, and nothing else.
 */
import { fault } from "../../kernel/fault.ts";
import { oneByOne, type Stream } from "../../kernel/one-by-one.ts";
import type { HeldLease, Leases } from "../../ports/lease.ts";
import type { CachedFold, Log, LogNotice, Meanwhile, WriteTexts } from "../../ports/store.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import { logVersion } from "../../protocol/event/durable.ts";
import type { Damage } from "./damage.ts";
import type { FileLayer, OpenFile } from "./files.ts";
import { type FoldCacheEntry, type FoldCacheOptions, writeFoldCache } from "./fold-cache.ts";
import { encodeHeader, encodeRecord, MAX_LINE_BYTES } from "./line.ts";
import { type OpenedLog, openLogFile, unwritable } from "./reasons.ts";
import { checkFollows, checkReadable, readEvents } from "./records.ts";
import type { RecordEntry, Scan } from "./scan.ts";
import { cutBack, keepOriginal } from "./seal.ts";
import { type LogSurvey, survey } from "./survey.ts";
import { GroupCommit, type LogEnd, Writer } from "./writer.ts";

export type JsonlLogOptions = {
  readonly session: string;
  readonly path: string;
  readonly files: FileLayer;
  readonly leases: Leases;
  readonly now: () => number;
  /** Undefined when it could not be taken for another reason than that somebody has it. */
  readonly lock: HeldLease | undefined;
  readonly opened: OpenedLog;
  readonly survey: LogSurvey;
  /** What of the log was folded before. Then the survey has only what stands behind it. */
  readonly kept: FoldCacheEntry | undefined;
  readonly keeping: FoldCacheOptions | undefined;
};

type Batch = {
  readonly seqs: readonly number[];
  readonly lines: readonly Buffer[];
  readonly meanwhile: Meanwhile | undefined;
};

export class JsonlLog implements Log {
  readonly #parts: Omit<JsonlLogOptions, "kept" | "survey">;
  readonly #scan: Omit<Scan, "entries">;
  readonly #damage: Damage;
  readonly #group: GroupCommit<Batch>;
  /** Undefined while it rests, and after that until it is read. Only those after `#knownAfter`. */
  #entries: RecordEntry[] | undefined;
  #knownAfter: number;
  /** Until it is told: its texts are as large as the conversation. */
  #kept: FoldCacheEntry | undefined;
  readonly #keptBytes: number;
  #lastSeq: number;
  #lock: HeldLease | undefined;
  #file: OpenFile | undefined;
  #writeFile: OpenFile | undefined;
  #writer: Writer | undefined;
  #copy: string | undefined;
  #unsaved: LogNotice | undefined;
  /** The last seq that is on disk or on its way. */
  #acceptedSeq: number;
  /** Where a log that rested goes on, and who opens it again. */
  #restedAt: LogEnd | undefined;
  #opening: Promise<OpenFile> | undefined;
  #readers = 0;
  #closed = false;

  constructor({ kept, survey: { scan, entries, damage }, ...parts }: JsonlLogOptions) {
    const { file, how } = parts.opened;
    this.#parts = parts;
    this.#damage = damage;
    // Where each record stands is let go of when the log rests.
    const { entries: _, ...found } = scan;
    this.#scan = found;
    this.#entries = [...entries];
    this.#kept = kept;
    this.#keptBytes = kept?.log.bytes ?? 0;
    this.#knownAfter = kept?.seq ?? 0;
    this.#lastSeq = this.#entries.at(-1)?.seq ?? this.#knownAfter;
    this.#acceptedSeq = this.#lastSeq;
    this.#lock = parts.lock;
    this.#file = file;
    this.#writeFile = how === "write" ? file : undefined;
    this.#group = new GroupCommit({
      commit: (batches) => this.#commit(batches),
      onRefused: () => {
        this.#acceptedSeq = this.lastSeq;
      },
    });
  }

  get session(): string {
    return this.#parts.session;
  }

  get lastSeq(): number {
    return this.#lastSeq;
  }

  get notices(): readonly LogNotice[] {
    return [...this.#damage.notices(), ...(this.#unsaved ? [this.#unsaved] : [])];
  }

  /** Makes everything ready for writing, or notes why it cannot be. */
  async prepare(): Promise<void> {
    try {
      await this.#ready();
    } catch (thrown) {
      const { code, message } = unwritable(this.#parts.path, thrown);
      if (code !== "log_unwritable") throw thrown;
      this.#unsaved = {
        level: "warning",
        code,
        text: `${message}. It can be read; nothing new can be kept.`,
      };
    }
  }

  async append(events: readonly Durable[], meanwhile?: Meanwhile): Promise<void> {
    if (this.#closed) throw fault("session_closed");
    if (events.length === 0) return;
    checkFollows(events, this.#acceptedSeq);
    const seqs = events.map(({ seq }) => seq);
    const lines = events.map((event) => this.#encode(event));
    this.#acceptedSeq += events.length;
    await this.#group.add({ seqs, lines, meanwhile });
  }

  read(after = 0): Stream<Durable> {
    return oneByOne(this.#batches(after));
  }

  async *#batches(after: number): AsyncGenerator<Durable[], void> {
    if (this.#closed) throw fault("session_closed");
    const { session } = this.#parts;
    this.#readers++;
    try {
      const file = await this.#open();
      const entries = (await this.#known(file, after)).filter(({ seq }) => seq > after);
      yield* readEvents({ file, entries, session, damage: this.#damage });
    } finally {
      this.#readers--;
    }
  }

  cachedFold(): CachedFold | undefined {
    const kept = this.#kept;
    this.#kept = undefined;
    return kept;
  }

  async cacheFold(write: WriteTexts): Promise<void> {
    await this.#group.idle();
    const { keeping, files, path, session } = this.#parts;
    const end = this.#writer?.end;
    // What was found to be wrong with a log is told at every start, and not only at the first.
    if (!keeping || this.#closed || !end || this.notices.length > 0) return;
    const about = { path, session, seq: this.#lastSeq, end, keptBytes: this.#keptBytes };
    const log = { ...about, isClosed: () => this.#closed };
    await writeFoldCache({ ...keeping, files, log, write });
  }

  async unload(): Promise<boolean> {
    await this.#group.idle();
    const file = this.#file;
    const end = this.#writer?.end;
    // Whoever reads holds the file; what cannot be written, or was not written to its end, is not let out of sight.
    if (this.#closed || this.#readers > 0 || !file || !end || file !== this.#writeFile) return false;
    this.#restedAt = end;
    this.#entries = undefined;
    this.#writer = undefined;
    this.#file = undefined;
    this.#writeFile = undefined;
    await file.close();
    return true;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#group.idle();
    await this.#opening?.catch(() => undefined);
    try {
      await this.#file?.close();
      if (this.#writeFile !== this.#file) await this.#writeFile?.close();
    } finally {
      await this.#lock?.release();
    }
  }

  #encode(event: Durable): Buffer {
    const line = encodeRecord(event);
    if (line.length > MAX_LINE_BYTES) {
      const reason = `a record of ${line.length} bytes is longer than ${MAX_LINE_BYTES}`;
      throw fault("log_unwritable", { path: this.#parts.path, reason });
    }
    checkReadable(event, () => line.toString("utf8"));
    return line;
  }

  async #commit(batches: readonly Batch[]): Promise<void> {
    const lines = batches.flatMap((batch) => batch.lines);
    const seqs = batches.flatMap((batch) => batch.seqs);
    const writer = await this.#readyOrRefuse();
    let offset = await writer.write(lines.length === 1 && lines[0] ? lines[0] : Buffer.concat(lines), () => {
      for (const { meanwhile } of batches) meanwhile?.();
    });
    for (const [index, line] of lines.entries()) {
      const bytes = line.length - "\n".length;
      this.#entries?.push({ seq: seqs[index] ?? 0, offset, bytes, v: logVersion });
      offset += line.length;
    }
    this.#lastSeq = seqs.at(-1) ?? this.#lastSeq;
  }

  async #readyOrRefuse(): Promise<Writer> {
    try {
      return await this.#ready();
    } catch (thrown) {
      throw unwritable(this.#parts.path, thrown);
    }
  }

  /** Takes the lock, opens for writing and seals a torn end, as far as that is not done yet. */
  async #ready(): Promise<Writer> {
    if (this.#writer) return this.#writer;
    const { files, leases, session, path } = this.#parts;
    if (this.#restedAt !== undefined) return this.#goOn(this.#restedAt);
    const { size, end, sum } = this.#scan;
    this.#lock ??= await leases.take(session);
    this.#writeFile ??= await files.open(path, "write");
    const file = this.#writeFile;
    const { bytes } = await file.facts();
    if (bytes !== size && bytes !== end) throw new Error("it was changed since it was read; open it again");
    if (bytes > end) {
      this.#copy ??= await keepOriginal({ files, file, path, size, end });
      this.#damage.keptIn(this.#copy);
      await cutBack({ file, end });
    }
    const known = { bytes: end, sum: size === end ? sum : undefined };
    this.#writer = new Writer({ file, path, end: known, lead: this.#lead() });
    this.#unsaved = undefined;
    return this.#writer;
  }

  /** The writer itself looks whether the file is still as it was. */
  async #goOn(end: LogEnd): Promise<Writer> {
    const { files, path } = this.#parts;
    await this.#open();
    this.#writeFile ??= await files.open(path, "write");
    this.#writer = new Writer({ file: this.#writeFile, path, end, lead: Buffer.alloc(0) });
    return this.#writer;
  }

  /** The file, opened again where the log rested. */
  async #open(): Promise<OpenFile> {
    if (this.#file) return this.#file;
    const { files, path, session } = this.#parts;
    this.#opening ??= openLogFile(files, path, session)
      .then(({ file, how }) => {
        this.#file = file;
        if (how === "write") this.#writeFile = file;
        return file;
      })
      .finally(() => {
        this.#opening = undefined;
      });
    return this.#opening;
  }

  async #known(file: OpenFile, after: number): Promise<readonly RecordEntry[]> {
    while (!this.#entries || after < this.#knownAfter) {
      const before = this.#lastSeq;
      const { entries } = await survey(file, { path: this.#parts.path, tornEnd: "ignored" });
      // What was added meanwhile may be missing: it is looked for once more.
      if (this.#lastSeq !== before) continue;
      // One that is on its way is added when it is on disk.
      this.#entries = entries.filter(({ seq }) => seq <= before);
      this.#knownAfter = 0;
    }
    return this.#entries;
  }

  /** What the next record must not do without: the end of the line before it, and a header of its format. */
  #lead(): Buffer {
    const { session, now } = this.#parts;
    const { unended, newest, header } = this.#scan;
    const parts: Buffer[] = unended ? [Buffer.from("\n")] : [];
    if (newest < logVersion) parts.push(encodeHeader({ session, cwd: header?.cwd ?? "", at: now() }));
    return Buffer.concat(parts);
  }
}
