/** What an agent of another engine has said: kept as lines, told to whoever watches, from any line on. */
import type { JsonObject } from "../../kernel/json.ts";
import { Queue } from "../../kernel/queue.ts";
import type { AgentUpdate } from "../../protocol/workspace.ts";
import { MessageLog } from "./message-log.ts";

/** A reader that is this far behind has to come back by the last line that it has. */
const maxBehind = 10_000;

export class AgentFeed {
  readonly #log: MessageLog;
  /** A line that is kept, as it is told. */
  readonly #updateOf: (line: JsonObject) => AgentUpdate;
  readonly #readers = new Set<(update: AgentUpdate) => void>();

  private constructor(log: MessageLog, updateOf: (line: JsonObject) => AgentUpdate) {
    this.#log = log;
    this.#updateOf = updateOf;
  }

  /** With all lines that are there. */
  static async open(
    folder: string,
    updateOf: (line: JsonObject) => AgentUpdate,
  ): Promise<{ readonly feed: AgentFeed; readonly lines: readonly JsonObject[] }> {
    const lines: JsonObject[] = [];
    const log = await MessageLog.open(folder, (line) => void lines.push(line));
    return { feed: new AgentFeed(log, updateOf), lines };
  }

  /** Told at once; resolves when it is kept. A line has a uuid, by which a reader comes back. */
  keep(line: JsonObject): Promise<void> {
    const written = this.#log.append(line);
    this.tell(this.#updateOf(line));
    return written;
  }

  /** Told, and not kept. */
  tell(update: AgentUpdate): void {
    for (const reader of this.#readers) reader(update);
  }

  async *stored(since: string | undefined): AsyncGenerator<AgentUpdate, void> {
    yield* this.#after(since, this.#log.count);
  }

  /** `open`: what is asked now, which follows on what is kept. */
  async *follow(
    since: string | null | undefined,
    open: readonly AgentUpdate[],
    signal: AbortSignal,
  ): AsyncGenerator<AgentUpdate, void> {
    const heard = new Queue<AgentUpdate>({ limit: maxBehind });
    // Heard from before the file is read: what is not among the first so many arrives here.
    const { count } = this.#log;
    for (const update of open) heard.push(update);
    const reader = (update: AgentUpdate): void => {
      if (!heard.push(update)) heard.end();
    };
    const end = (): void => heard.end();
    this.#readers.add(reader);
    signal.addEventListener("abort", end, { once: true });
    try {
      if (since !== null) yield* this.#after(since, count);
      yield* heard;
    } finally {
      this.#readers.delete(reader);
      signal.removeEventListener("abort", end);
    }
  }

  /** What follows the line with this uuid; all where none has it. */
  async *#after(since: string | undefined, count: number): AsyncGenerator<AgentUpdate, void> {
    let isFound = since === undefined;
    for await (const line of this.#log.read(count)) {
      if (isFound) yield this.#updateOf(line);
      else isFound = line["uuid"] === since;
    }
    if (!isFound) for await (const line of this.#log.read(count)) yield this.#updateOf(line);
  }
}
