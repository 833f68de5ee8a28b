/** The messages of an agent of another engine: a line each in a file that only the person can read, in their order. */
import { createReadStream } from "node:fs";
import { appendFile, mkdir, open } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import type { JsonObject } from "../../kernel/json.ts";

export class MessageLog {
  readonly #file: string;
  #written: Promise<void>;
  #count = 0;

  private constructor(file: string) {
    this.#file = file;
    this.#written = Promise.resolve();
  }

  /** `each` is told what is there. */
  static async open(folder: string, each: (message: JsonObject) => void): Promise<MessageLog> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const log = new MessageLog(path.join(folder, "messages.jsonl"));
    await log.#mend();
    for await (const message of log.#lines()) {
      log.#count += 1;
      each(message);
    }
    return log;
  }

  get count(): number {
    return this.#count;
  }

  append(message: JsonObject): Promise<void> {
    this.#count += 1;
    const line = `${JSON.stringify(message)}\n`;
    this.#written = this.#written.then(() => appendFile(this.#file, line, { mode: 0o600 }));
    return this.#written;
  }

  /** The first so many of them. */
  async *read(count: number): AsyncGenerator<JsonObject, void> {
    await this.#written.catch(() => undefined); // Whoever wrote it was told.
    let read = 0;
    if (count > 0)
      for await (const message of this.#lines()) {
        yield message;
        read += 1;
        if (read >= count) return;
      }
  }

  /** A line that a crash has cut ends where the next begins, and is no message. */
  async #mend(): Promise<void> {
    const handle = await open(this.#file, "a+", 0o600);
    try {
      const { size } = await handle.stat();
      const last = Buffer.alloc(1);
      if (size > 0) await handle.read(last, 0, 1, size - 1);
      if (size > 0 && last[0] !== 10) await handle.appendFile("\n");
    } finally {
      await handle.close();
    }
  }

  async *#lines(): AsyncGenerator<JsonObject, void> {
    const lines = createInterface({ input: createReadStream(this.#file, "utf8") });
    for await (const line of lines) {
      const message = parsed(line);
      if (message) yield message;
    }
  }
}

function parsed(line: string): JsonObject | undefined {
  try {
    const message: unknown = JSON.parse(line);
    return typeof message === "object" && message !== null && !Array.isArray(message)
      ? (message as JsonObject)
      : undefined;
  } catch {
    return undefined;
  }
}
