/**
 * What a server does, for whoever looks later: a line for each thing, in a file that only the person can read, bounded
 * in size and number. Only words of ours, numbers and ids get in: no secret, and nothing of a conversation.
 */
import { chmod, mkdir, open, rename, rm, stat } from "node:fs/promises";
import path from "node:path";

export type ServerLogOptions = {
  readonly file: string;
  readonly now: () => number;
  readonly maxBytes?: number;
  /** With the one that is written. */
  readonly maxFiles?: number;
};

export type LogField = string | number | undefined;

/** Five files of a megabyte are months of a person's use. */
const defaults = { maxBytes: 1024 * 1024, maxFiles: 5 };
/** Lines that wait for the disk; what comes beyond is counted, and its number told. */
const maxWaiting = 1_000;
/** What a field may be: an id, a code, a version. All else could be anybody's words. */
const fieldPattern = /^[\w.:+-]{1,80}$/;

export class ServerLog {
  readonly file: string;
  readonly #now: () => number;
  readonly #maxBytes: number;
  readonly #maxFiles: number;
  #waiting: string[] = [];
  #leftOut = 0;
  #writing: Promise<void> | undefined;
  #bytes: number | undefined;

  constructor({ file, now, maxBytes = defaults.maxBytes, maxFiles = defaults.maxFiles }: ServerLogOptions) {
    this.file = file;
    this.#now = now;
    this.#maxBytes = maxBytes;
    this.#maxFiles = maxFiles;
  }

  /** Waits for nobody, and never throws: a server serves also where it cannot say so. */
  say(what: string, fields: Readonly<Record<string, LogField>> = {}): void {
    if (this.#waiting.length >= maxWaiting) {
      this.#leftOut++;
      return;
    }
    this.#waiting.push(lineOf(new Date(this.#now()).toISOString(), what, fields));
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
    });
  }

  /** Everything said so far is in the file, or could not be. */
  async flushed(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
  }

  async #write(): Promise<void> {
    // Those that come in this turn of the loop go out together.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const lines = this.#waiting;
      this.#waiting = [];
      if (this.#leftOut > 0)
        lines.push(lineOf(new Date(this.#now()).toISOString(), "log.left-out", { lines: this.#leftOut }));
      this.#leftOut = 0;
      await this.#append(lines).catch(() => {
        // A full disk or a folder that is gone: looked at anew with the next line.
        this.#bytes = undefined;
      });
    }
  }

  async #append(lines: readonly string[]): Promise<void> {
    for (let at = 0; at < lines.length; ) {
      this.#bytes ??= await this.#find();
      let text = "";
      while (at < lines.length && (text === "" || this.#bytes + text.length < this.#maxBytes))
        text += lines[at++] ?? "";
      const file = await open(this.file, "a", 0o600);
      try {
        await file.appendFile(text);
      } finally {
        await file.close();
      }
      this.#bytes += text.length;
      if (this.#bytes >= this.#maxBytes) await this.#rotate();
    }
  }

  async #find(): Promise<number> {
    await mkdir(path.dirname(this.file), { recursive: true, mode: 0o700 });
    const found = await stat(this.file).catch(() => undefined);
    if (found) await chmod(this.file, 0o600);
    return found?.size ?? 0;
  }

  async #rotate(): Promise<void> {
    await rm(this.#older(this.#maxFiles - 1), { force: true });
    for (let age = this.#maxFiles - 2; age >= 0; age--)
      await rename(this.#older(age), this.#older(age + 1)).catch(() => undefined);
    this.#bytes = 0;
  }

  #older(age: number): string {
    return age === 0 ? this.file : `${this.file}.${age}`;
  }
}

function lineOf(at: string, what: string, fields: Readonly<Record<string, LogField>>): string {
  const told = Object.entries(fields).flatMap(([name, value]) => {
    if (value === undefined) return [];
    const text = String(value);
    return [`${name}=${fieldPattern.test(text) ? text : "?"}`];
  });
  return `${[at, what, ...told].join(" ")}\n`;
}
