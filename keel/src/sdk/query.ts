/** `query()`: a session in this process, as an iterator of messages with the methods of the interface. */
import { type OpenSession, openSession } from "../app/open-session.ts";
import { Fault, fault, toFault } from "../kernel/fault.ts";
import { Queue } from "../kernel/queue.ts";
import type { Receipt } from "../protocol/command.ts";
import { text } from "../protocol/message.ts";
import type { PermissionMode } from "../protocol/settings.ts";
import { answerWith } from "./callbacks.ts";
import { inputOf, type UserMessage } from "./content.ts";
import { toMessages } from "./dialect.ts";
import { newMemo } from "./dialect-memo.ts";
import { failedStart } from "./failed-start.ts";
import type { SDKMessage } from "./messages.ts";
import { type Options, openOptionsOf } from "./options.ts";
import { version } from "./version.ts";

/** Thrown by the iterator when the program's own controller was aborted. */
export class AbortError extends Error {}

export type Prompt = string | AsyncIterable<UserMessage>;

export interface Query extends AsyncGenerator<SDKMessage, void> {
  interrupt(): Promise<{ still_queued: string[] }>;
  setPermissionMode(mode: PermissionMode): Promise<void>;
  setModel(model?: string): Promise<void>;
  setMaxThinkingTokens(tokens: number | null): Promise<void>;
  rewindFiles(userMessageId: string, options?: { dryRun?: boolean }): Promise<RewindFilesResult>;
  streamInput(messages: AsyncIterable<UserMessage>): Promise<void>;
  close(): void;
}

export type RewindFilesResult = {
  canRewind: boolean;
  filesChanged?: string[];
  insertions?: number;
  deletions?: number;
  skippedLinks?: number;
};

/** A program that reads this far behind is told so, instead of filling the memory. */
const mostWaiting = 100_000;

export function query({ prompt, options = {} }: { prompt: Prompt; options?: Options }): Query {
  const out = new Queue<SDKMessage>({ limit: mostWaiting });
  const conversation = new Conversation(options, out);
  void conversation.live(prompt);
  const messages = read(out, conversation);
  return Object.assign(messages, {
    interrupt: () => conversation.interrupt(),
    setPermissionMode: (permissionMode: PermissionMode) => conversation.set({ permissionMode }),
    setModel: (model?: string) => conversation.set({ model: model ?? options.model }),
    setMaxThinkingTokens: (tokens: number | null) =>
      conversation.set({
        thinking: tokens === null || tokens === 0 ? { kind: "off" } : { kind: "budget", tokens },
      }),
    rewindFiles: (id: string, { dryRun = false }: { dryRun?: boolean } = {}) =>
      conversation.rewind(id, dryRun),
    streamInput: (input: AsyncIterable<UserMessage>) => conversation.send(input),
    close: () => void conversation.close(),
  });
}

/** The iterator. Leaving it early closes the session. */
async function* read(out: Queue<SDKMessage>, conversation: Conversation): AsyncGenerator<SDKMessage, void> {
  try {
    yield* out;
  } finally {
    await conversation.close();
  }
}

/** One session and what flows between it and the program. */
class Conversation {
  readonly #options: Options;
  readonly #out: Queue<SDKMessage>;
  readonly #opened: Promise<OpenSession>;
  #closing: Promise<void> | undefined;

  constructor(options: Options, out: Queue<SDKMessage>) {
    this.#options = options;
    this.#out = out;
    this.#opened = this.#open();
    // Whoever calls a method learns of it there; the iterator tells it too.
    this.#opened.catch(() => undefined);
  }

  /** From the first word to the last: opens, sends the prompt, waits until all work is done, closes. */
  async live(prompt: Prompt): Promise<void> {
    const { abortController } = this.#options;
    const abort = (): void => this.#abort();
    abortController?.signal.addEventListener("abort", abort, { once: true });
    try {
      if (abortController?.signal.aborted) return this.#abort();
      await (typeof prompt === "string" ? this.#say(prompt) : this.send(prompt));
      await (await this.#opened).idle();
      if (!(this.#options.keepOpen && typeof prompt === "string")) await this.close();
    } catch (thrown) {
      this.#fail(thrown);
    } finally {
      abortController?.signal.removeEventListener("abort", abort);
    }
  }

  async send(messages: AsyncIterable<UserMessage>): Promise<void> {
    const session = await this.#opened;
    for await (const message of messages) {
      if (this.#closing !== undefined) return;
      const when = message.priority === "later" ? "after" : "now";
      await session.submit({
        type: "input",
        content: inputOf(message),
        when,
        ...(message.uuid === undefined ? {} : { id: message.uuid }),
      });
    }
  }

  async interrupt(): Promise<{ still_queued: string[] }> {
    const receipt = await (await this.#opened).submit({ type: "interrupt" });
    return { still_queued: receipt.type === "interrupted" ? receipt.stillQueued : [] };
  }

  async set(
    patch: Parameters<OpenSession["submit"]>[0] extends infer C
      ? C extends { type: "set"; patch: infer P }
        ? P
        : never
      : never,
  ): Promise<void> {
    if (patch.permissionMode === "bypassPermissions" && !this.#options.allowDangerouslySkipPermissions) {
      throw fault("mode_refused", {
        mode: patch.permissionMode,
        reason: "the session was not started for it.",
      });
    }
    await (await this.#opened).submit({ type: "set", patch });
  }

  async rewind(checkpoint: string, preview: boolean): Promise<RewindFilesResult> {
    const receipt: Receipt = await (await this.#opened).submit({ type: "rewind", checkpoint, preview });
    if (receipt.type !== "rewound") return { canRewind: false };
    if (!preview) return { canRewind: true, skippedLinks: receipt.skipped.length };
    const sum = (of: "insertions" | "deletions"): number =>
      receipt.files.reduce((total, file) => total + file[of], 0);
    return {
      canRewind: true,
      filesChanged: receipt.files.map(({ path }) => path),
      insertions: sum("insertions"),
      deletions: sum("deletions"),
    };
  }

  /** Ends the session gracefully and the iterator after its last message. */
  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    try {
      await (await this.#opened).close("ended");
    } catch (thrown) {
      if (thrown instanceof Fault && thrown.code !== "session_closed") this.#out.fail(thrown);
    } finally {
      this.#out.end();
    }
  }

  async #say(prompt: string): Promise<void> {
    await (await this.#opened).submit({ type: "input", content: [text(prompt)] });
  }

  async #open(): Promise<OpenSession> {
    const session = await openSession(openOptionsOf(this.#options, { version, processEnv: process.env }));
    const { info } = session;
    let memo = newMemo({
      sessionId: session.id,
      cwd: info.cwd,
      model: info.model,
      permissionMode: info.permissionMode,
      tools: info.tools,
      version,
      apiKeySource: info.keySource,
      models: info.models,
      partialMessages: this.#options.includePartialMessages ?? false,
      replayUserMessages: Object.hasOwn(this.#options.extraArgs ?? {}, "replay-user-messages"),
    });
    // A session that goes on counts on: its totals are in its log.
    for await (const event of session.history()) memo = toMessages(event, memo)[1];
    session.onEvent((envelope) => {
      const [messages, next] = toMessages(envelope, memo);
      memo = next;
      for (const message of messages) {
        if (!this.#out.push(message) && !this.#closing)
          this.#out.fail(fault("queue_full", { limit: mostWaiting }));
      }
    });
    for (const { text: words } of session.notices) this.#options.stderr?.(`${words}\n`);
    answerWith(session, this.#options.canUseTool);
    return session;
  }

  #abort(): void {
    this.#out.fail(new AbortError("The query was aborted."));
    void this.close();
  }

  /** A session that could not be opened is one failed result; anything else is thrown by the iterator. */
  #fail(thrown: unknown): void {
    const { code, message } = toFault(thrown);
    if (code === "session_unknown")
      this.#out.push(failedStart({ message, sessionId: this.#options.resume ?? "" }));
    else if (code !== "session_closed") this.#out.fail(thrown);
    void this.close();
  }
}
