/** One session in this process, and what flows between it and the program. */
import { type OpenSession, openSession } from "../app/open-session.ts";
import { keptSessions } from "../app/sessions.ts";
import { Fault, fault, toFault } from "../kernel/fault.ts";
import type { Queue } from "../kernel/queue.ts";
import type { Command, Receipt } from "../protocol/command.ts";
import { isDurable } from "../protocol/event.ts";
import { type InputBlock, text, textOf } from "../protocol/message.ts";
import type { SettingsPatch } from "../protocol/settings.ts";
import { answerWith } from "./callbacks.ts";
import { inputOf, type UserMessage } from "./content.ts";
import { failedStart } from "./failed-start.ts";
import type { SDKMessage } from "./messages.ts";
import { environmentOf, openOptionsOf } from "./open-options.ts";
import type { Options } from "./options.ts";
import { answererOf } from "./prompt-tool.ts";
import { Mirror, projectKeyOf, restoreFrom } from "./session-store.ts";
import { seqOfMessage } from "./stored-messages.ts";
import { Teller } from "./teller.ts";
import { version } from "./version.ts";

/** Thrown by the iterator when the program's own controller was aborted. */
export class AbortError extends Error {}

export type Prompt = string | AsyncIterable<UserMessage>;

/** A program that reads this far behind is told so, instead of filling the memory. */
export const mostWaiting = 100_000;

export class Conversation {
  readonly options: Options;
  readonly #out: Queue<SDKMessage>;
  /** Ids that the program itself gave. */
  readonly #named = new Set<string>();
  #opened: Promise<OpenSession> | undefined;
  #teller: Teller | undefined;
  #mirror: Mirror | undefined;
  #closing: Promise<void> | undefined;
  /** Said without a wish for an answer: it goes with the next message. */
  #unasked: InputBlock[] = [];

  constructor(options: Options, out: Queue<SDKMessage>) {
    this.options = options;
    this.#out = out;
  }

  /** Opens the session at the first call. Whoever calls learns of a failure there; the iterator tells it too. */
  open(): Promise<OpenSession> {
    this.#opened ??= this.#open();
    this.#opened.catch(() => undefined);
    return this.#opened;
  }

  /** From the first word to the last: opens, sends the prompt, waits until all work is done, closes. */
  async live(prompt: Prompt): Promise<void> {
    const { abortController, keepOpen } = this.options;
    const abort = (): void => this.#abort();
    abortController?.signal.addEventListener("abort", abort, { once: true });
    try {
      if (abortController?.signal.aborted) return this.#abort();
      await (typeof prompt === "string" ? this.say([text(prompt)]) : this.send(prompt));
      await untilDone(await this.open());
      if (!keepOpen) await this.close();
    } catch (thrown) {
      this.#fail(thrown);
    } finally {
      abortController?.signal.removeEventListener("abort", abort);
    }
  }

  async send(messages: AsyncIterable<UserMessage>): Promise<void> {
    // The session opens while the program still thinks of its first message.
    await this.open();
    for await (const message of messages) {
      if (this.#closing !== undefined) return;
      await this.sendOne(message);
    }
  }

  async sendOne(message: UserMessage): Promise<void> {
    const content = inputOf(message);
    if (message.uuid !== undefined) this.#named.add(message.uuid);
    if (message.shouldQuery === false) {
      this.#unasked.push(...content);
      this.#teller?.tellNoTurn();
      return;
    }
    // A message that cannot wait takes the place of what is being done.
    if (message.priority === "now") await (await this.open()).submit({ type: "interrupt" });
    await this.say(content, { when: message.priority === "later" ? "after" : "now", id: message.uuid });
  }

  async say(
    content: InputBlock[],
    { when = "after", id }: { when?: "now" | "after"; id?: string | undefined } = {},
  ): Promise<void> {
    const session = await this.open();
    const compact = /^\/compact(?:\s+([\s\S]+))?$/.exec(textOf(content).trim());
    if (compact) {
      const [, instructions] = compact;
      await session.submit({ type: "compact", ...(instructions ? { instructions } : {}) });
      return;
    }
    const all = [...this.#unasked.splice(0), ...content];
    await session.submit({ type: "input", content: all, when, ...(id === undefined ? {} : { id }) });
  }

  async submit(command: Command): Promise<Receipt> {
    return (await this.open()).submit(command);
  }

  async set(patch: SettingsPatch): Promise<void> {
    const { permissionMode: mode } = patch;
    if (mode === "bypassPermissions" && !this.options.allowDangerouslySkipPermissions)
      throw fault("mode_refused", { mode, reason: "the session was not started for it." });
    await this.submit({ type: "set", patch });
  }

  /** Ends the session gracefully and the iterator after its last message. */
  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    try {
      // What kept it from opening was told where it was opened.
      const session = await this.#opened?.catch(() => undefined);
      await session?.close("ended");
      await this.#mirror?.send();
    } catch (thrown) {
      if (thrown instanceof Fault && thrown.code !== "session_closed") this.#out.fail(thrown);
    } finally {
      this.#out.end();
    }
  }

  async #open(): Promise<OpenSession> {
    const { options } = this;
    const wanted = openOptionsOf(options, { version, processEnv: process.env });
    const known = await this.#restore(wanted.cwd);
    const session = await openSession({ ...wanted, which: await this.#which(wanted) });
    const teller = new Teller(session, { options, named: this.#named, out: this.#out });
    this.#teller = teller;
    this.#mirror = this.#mirrorOf(session, known);
    // A session that goes on counts on: its totals are in its log.
    for await (const event of session.history()) {
      teller.remember(event);
      this.#mirror?.add(event);
    }
    session.onEvent((envelope) => {
      if (isDurable(envelope)) this.#mirror?.add(envelope);
      if (!teller.tell(envelope) && !this.#closing)
        this.#out.fail(fault("queue_full", { limit: mostWaiting }));
    });
    for (const { text: words } of session.notices) options.stderr?.(`${words}\n`);
    answerWith(session, answererOf(options));
    return session;
  }

  /** An earlier message is gone on from in a copy. */
  async #which(wanted: ReturnType<typeof openOptionsOf>): Promise<typeof wanted.which> {
    const { resume, resumeSessionAt: uuid, sessionId: id } = this.options;
    if (resume === undefined || uuid === undefined) return wanted.which;
    const sessions = keptSessions({ env: wanted.env, cwd: wanted.cwd });
    const upTo = await seqOfMessage(sessions.read(resume), { sessionId: resume, uuid });
    if (upTo === undefined) throw fault("usage", { reason: `The session has no message ${uuid}.` });
    return { kind: "fork", from: { session: resume }, upTo, id };
  }

  async #restore(cwd: string): Promise<number> {
    const { sessionStore, resume, forkSession } = this.options;
    if (!sessionStore || resume === undefined) return 0;
    const sessions = keptSessions({ env: environmentOf(this.options, process.env), cwd });
    const key = { projectKey: projectKeyOf(cwd), sessionId: resume };
    const known = await restoreFrom(sessionStore, { key, sessions });
    return forkSession ? 0 : known;
  }

  #mirrorOf(session: OpenSession, known: number): Mirror | undefined {
    const { sessionStore, sessionStoreFlush = "batched" } = this.options;
    if (!sessionStore) return undefined;
    const key = { projectKey: projectKeyOf(session.info.cwd), sessionId: session.id };
    return new Mirror(sessionStore, {
      key,
      flush: sessionStoreFlush,
      known,
      failed: (error) => this.#teller?.tellMirrorError(error, key),
    });
  }

  #abort(): void {
    this.#out.fail(new AbortError("The query was aborted."));
    void this.close();
  }

  /** A session that could not be found is one failed result; anything else is thrown by the iterator. */
  #fail(thrown: unknown): void {
    const { code, message } = toFault(thrown);
    if (code === "session_unknown")
      this.#out.push(failedStart({ message, sessionId: this.options.resume ?? "" }));
    else if (code !== "session_closed") this.#out.fail(thrown);
    void this.close();
  }
}

/** No turn, no input that waits, and no task whose end the model is to hear of. */
export async function untilDone(session: OpenSession): Promise<void> {
  for (;;) {
    await session.idle();
    if (!session.tasks().some(({ reports }) => reports)) return;
    await new Promise<void>((resolve) => {
      const stop = session.onEvent(({ type }) => {
        if (type !== "task.changed" && type !== "session.closed") return;
        stop();
        resolve();
      });
    });
  }
}
