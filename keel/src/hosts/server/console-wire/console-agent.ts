/**
 * What the clients of an agent on the console wire share: its messages as a list in memory, a copy of it as JSON lines,
 * and what happens in it. The session's log is the truth: what the file lacks is taken from it, and a file that says
 * something else is written anew. What only passed by, such as the words of agents below, the file alone has.
 */
import { appendFile, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import type { OpenSession } from "../../../app/open-session.ts";
import type { ServedSessions } from "../../../app/sessions/served-sessions.ts";
import { isObject, parseJson } from "../../../kernel/json.ts";
import type { Ask } from "../../../protocol/ask.ts";
import { isDurable } from "../../../protocol/event/envelope.ts";
import { factsOf } from "../../../sdk/dialect/messages-fold.ts";
import type { SDKSentMessage } from "../../../sdk/messages/messages.ts";
import { activityIn, type ConsoleMemo, newConsoleMemo, toLines } from "./agent-dialect.ts";
import type { ConsoleActivity, ToldOfAgent } from "./lines.ts";

export type ConsoleAgentOptions = {
  readonly served: Pick<ServedSessions, "lend">;
  readonly session: string;
  readonly version: string;
  /** Where the copy is kept. */
  readonly file: string;
};

/** Pieces of replies are not kept; who has one as its last is told what came after it while the server knows it. */
const maxPieces = 5_000;

export class ConsoleAgent {
  readonly #options: ConsoleAgentOptions;
  readonly #session: OpenSession;
  readonly #listeners = new Set<(line: ToldOfAgent) => void>();
  readonly #stop = new AbortController();
  readonly #pieces = new Map<string, number>();
  readonly #messages: SDKSentMessage[] = [];
  #memo: ConsoleMemo;
  #writing: Promise<unknown> = Promise.resolve();
  /** Settles when the session has ended, or nobody wants it any more. */
  readonly ended: Promise<void>;

  private constructor(options: ConsoleAgentOptions, session: OpenSession, memo: ConsoleMemo, seq: number) {
    this.#options = options;
    this.#session = session;
    this.#memo = memo;
    this.ended = this.#follow(seq);
  }

  /** Throws what keeps the session from being attached to. */
  static async open(options: ConsoleAgentOptions): Promise<ConsoleAgent> {
    const session = await options.served.lend(options.session, { access: "watch", name: "the console" });
    let memo = newConsoleMemo(factsOf(session, options.version));
    let seq = 0;
    const logged: SDKSentMessage[] = [];
    for await (const event of session.history()) {
      const [lines, next] = toLines(event, memo);
      memo = next;
      seq = event.seq;
      for (const line of lines) if (line.type === "sdk-message") logged.push(line.message);
    }
    const stored = await readMessages(options.file);
    const joined = join(stored, logged);
    const agent = new ConsoleAgent(options, session, memo, seq);
    agent.#messages.unshift(...joined.messages);
    agent.#write(joined.kind === "anew" ? "anew" : "added", joined.missing);
    return agent;
  }

  /** Hears every line from now on, until what it returns is called. */
  listen(listener: (line: ToldOfAgent) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  get isHeard(): boolean {
    return this.#listeners.size > 0;
  }

  activity(): ConsoleActivity {
    return activityIn(this.#memo);
  }

  asks(): readonly Ask[] {
    return this.#session.openAsks();
  }

  /** What came after a message; all of it, where the message is not known. */
  after(lastUuid: string | null | undefined): {
    messages: readonly SDKSentMessage[];
    lastUuid: string | null;
  } {
    const at = typeof lastUuid === "string" ? this.#placeOf(lastUuid) : 0;
    return {
      messages: this.#messages.slice(at),
      lastUuid: uuidOf(this.#messages.at(-1)) ?? null,
    };
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#session.close("ended");
    await this.#writing;
  }

  #placeOf(uuid: string): number {
    const piece = this.#pieces.get(uuid);
    return piece ?? this.#messages.findLastIndex((message) => uuidOf(message) === uuid) + 1;
  }

  async #follow(after: number): Promise<void> {
    // By then whoever opened it has the messages of before.
    await Promise.resolve();
    try {
      for await (const event of this.#session.attach(after, this.#stop.signal)) {
        const [lines, next] = toLines(event, this.#memo);
        this.#memo = next;
        for (const line of lines) this.#tell(line);
        if (isDurable(event)) await this.#writing;
      }
    } catch {
      // What ended it is told by its end: a client asks for what came after its last message.
    }
  }

  #tell(line: ToldOfAgent): void {
    if (line.type === "sdk-message") {
      const { message } = line;
      if (message.type === "stream_event") this.#remember(message.uuid);
      else {
        this.#messages.push(message);
        this.#write("added", [message]);
      }
    }
    for (const listener of this.#listeners) listener(line);
  }

  #remember(uuid: string): void {
    this.#pieces.set(uuid, this.#messages.length);
    const [oldest] = this.#pieces.keys();
    if (this.#pieces.size > maxPieces && oldest !== undefined) this.#pieces.delete(oldest);
  }

  /** The copy is for others: what keeps it from being written keeps nothing else. */
  #write(how: "anew" | "added", messages: readonly SDKSentMessage[]): void {
    if (how === "added" && messages.length === 0) return;
    const { file } = this.#options;
    const text = messages.map((message) => `${JSON.stringify(message)}\n`).join("");
    this.#writing = this.#writing
      .then(async () => {
        await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
        if (how === "anew") await writeFile(file, text, { mode: 0o600 });
        else await appendFile(file, text, { mode: 0o600 });
      })
      .catch(() => undefined);
  }
}

const uuidOf = (message: SDKSentMessage | undefined): string | undefined => message?.uuid;

async function readMessages(file: string): Promise<SDKSentMessage[]> {
  const text = await readFile(file, "utf8").catch(() => "");
  return text.split("\n").flatMap((line) => {
    const parsed = parseJson(line);
    // Written here, as it was told; a line that was cut off by a crash is none.
    return isObject(parsed) && typeof parsed["uuid"] === "string"
      ? [parsed as unknown as SDKSentMessage]
      : [];
  });
}

type Joined = {
  readonly kind: "added" | "anew";
  readonly messages: readonly SDKSentMessage[];
  /** What the file is to be given. */
  readonly missing: readonly SDKSentMessage[];
};

/** The file's list, with what the log has behind it. Where the file lacks something in between, the log's alone. */
export function join(stored: readonly SDKSentMessage[], logged: readonly SDKSentMessage[]): Joined {
  const known = new Set(stored.map(uuidOf));
  const first = logged.findIndex((message) => !known.has(uuidOf(message)));
  if (first === -1) return { kind: "added", messages: stored, missing: [] };
  const missing = logged.slice(first);
  if (missing.some((message) => known.has(uuidOf(message))))
    return { kind: "anew", messages: logged, missing: logged };
  return { kind: "added", messages: [...stored, ...missing], missing };
}
