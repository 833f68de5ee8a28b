/** One session in this process, and what flows between it and the program. What is heavy is loaded when it opens. */
import type { OpenSession } from "../../app/open-session.ts";
import { Fault, fault, toFault } from "../../kernel/fault.ts";
import type { Command, Receipt } from "../../protocol/command.ts";
import type { InputBlock } from "../../protocol/message.ts";
import type { SettingsPatch } from "../../protocol/settings.ts";
import { matchedTexts } from "../dialect/matched-texts.ts";
import type { Outlet } from "../dialect/message-emitter.ts";
import type { UserMessage } from "../messages/read-content.ts";
import type { Options } from "../options/options.ts";
import type { SessionServers } from "../tools/servers.ts";
import { type FindHome, homeOf } from "./homes.ts";
import type { OpenedConversation } from "./opened.ts";

export type Prompt = string | AsyncIterable<UserMessage>;

/** A program that reads this far behind is told so, instead of filling the memory. */
export const maxWaiting = 100_000;

type ConversationListener = {
  /** Given every session of the conversation, before anything is said in it. */
  heard(session: OpenSession): void;
  findHome: FindHome;
};

export class Conversation {
  readonly options: Options;
  readonly #out: Outlet;
  readonly #listener: ConversationListener;
  readonly #named = new Set<string>();
  #opened: Promise<OpenedConversation> | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: Options, out: Outlet, listener: Partial<ConversationListener> = {}) {
    this.options = options;
    this.#out = out;
    this.#listener = { heard: () => undefined, findHome: homeOf, ...listener };
  }

  async open(): Promise<OpenSession> {
    return (await this.#open()).session;
  }

  async servers(): Promise<SessionServers> {
    return (await this.#open()).servers;
  }

  /** From the first word to the last: opens, sends the prompt, waits until all work is done, closes. */
  async live(prompt: Prompt): Promise<void> {
    const { abortController, keepOpen } = this.options;
    const abort = (): void => this.#abort();
    abortController?.signal.addEventListener("abort", abort, { once: true });
    try {
      if (abortController?.signal.aborted) return this.#abort();
      await (typeof prompt === "string" ? this.say(prompt) : this.send(prompt));
      await untilDone(await this.open());
      if (!keepOpen) await this.close("answered");
    } catch (thrown) {
      await this.#fail(thrown);
    } finally {
      abortController?.signal.removeEventListener("abort", abort);
    }
  }

  async send(messages: AsyncIterable<UserMessage>): Promise<void> {
    // The session opens while the program still thinks of its first message.
    await this.open();
    for await (const message of messages) {
      if (this.#closing !== undefined) return;
      await this.say(message);
    }
  }

  /** Resolves when it is safe on disk. */
  async say(message: string | UserMessage): Promise<void> {
    const { session, emitter, contentOf, say } = await this.#open();
    const content = contentOf(message);
    const {
      uuid: id,
      shouldQuery,
      priority,
      client_composed,
      origin,
    } = typeof message === "string" ? plain : message;
    const verbatim = client_composed ?? this.options.verbatimPrompts ?? false;
    if (isClear(content) && !verbatim) return this.#clear(id);
    if (id !== undefined) this.#named.add(id);
    if (shouldQuery === false) {
      await say(content, { when: "with-next", id, verbatim });
      return emitter.emitNoTurn(id);
    }
    // A message that cannot wait takes the place of what is being done.
    if (priority === "now") await emitter.giveWay(() => session.submit({ type: "interrupt" }));
    await say(content, { when: priority === "later" ? "after" : "now", id, verbatim, origin });
  }

  /** The conversation goes on in a new session; the old one stays as it is. */
  async #clear(askedBy: string | undefined): Promise<void> {
    const before = await this.#open();
    await before.session.idle();
    await before.session.close("cleared");
    await before.mirror?.finish();
    const { resume: _, continue: __, forkSession: ___, sessionId: ____, ...options } = this.options;
    this.#opened = this.#openWith(options);
    const { session, emitter } = await this.#opened;
    before.emitter.emitReset(session.id, askedBy);
    emitter.emitNoTurn();
  }

  async submit(command: Command): Promise<Receipt> {
    return (await this.open()).submit(command);
  }

  async set(patch: SettingsPatch): Promise<void> {
    const { permissionMode: mode } = patch;
    // Late: schemas are no part of the import.
    const { permissionModes } = await import("../../protocol/settings.ts");
    if (mode !== undefined && !permissionModes.includes(mode))
      throw fault("usage", { reason: `There is no permission mode ${mode}: ${permissionModes.join(", ")}.` });
    if (mode === "bypassPermissions" && !this.options.allowDangerouslySkipPermissions)
      throw fault("mode_refused", { mode, reason: "the session was not started for it." });
    await this.submit({ type: "set", patch });
  }

  /** Without a name, the model that the session began with. */
  async setModel(name: string | undefined): Promise<void> {
    const { session, emitter } = await this.#open();
    const model = name ?? session.info.model;
    // A question, since a session that the server has is asked there.
    const used = async (): Promise<string> => (await session.inquire("context", {})).model;
    const before = await used();
    await this.set({ model });
    if ((await used()) !== before) emitter.emitEcho(`Set model to ${model}`);
  }

  /** Ends the session gracefully and the iterator after its last message. */
  close(how?: "answered"): Promise<void> {
    this.#closing ??= this.#end(how);
    return this.#closing;
  }

  async #end(how: "answered" | undefined): Promise<void> {
    try {
      // What kept it from opening was told where it was opened.
      const opened = await this.#opened?.catch(() => undefined);
      await opened?.session.close("ended");
      await opened?.mirror?.finish();
    } catch (thrown) {
      if (thrown instanceof Fault && thrown.code !== "session_closed") this.#out.fail(thrown);
    } finally {
      this.#out.end(how);
    }
  }

  /** Opens the session at the first call. Whoever calls learns of a failure there; the iterator tells it too. */
  #open(): Promise<OpenedConversation> {
    this.#opened ??= this.#openWith(this.options);
    this.#opened.catch(() => undefined);
    return this.#opened;
  }

  #openWith(options: Options): Promise<OpenedConversation> {
    return import("./opened.ts").then(({ openFor }) =>
      openFor(options, {
        out: this.#out,
        named: this.#named,
        ...this.#listener,
        tooSlow: () => {
          if (!this.#closing) this.#out.fail(fault("queue_full", { limit: maxWaiting }));
        },
      }),
    );
  }

  #abort(): void {
    this.#out.fail(new AbortError(matchedTexts.aborted));
    void this.close();
  }

  /** The iterator throws it; before it, a session that could not be found is one failed result. */
  async #fail(thrown: unknown): Promise<void> {
    const { code, message } = toFault(thrown);
    if (code === "session_unknown") {
      const { failedStart } = await import("./opened.ts");
      this.#out.push(failedStart({ message, sessionId: this.options.resume ?? "" }));
    }
    if (code !== "session_closed") this.#out.fail(thrown);
    void this.close();
  }
}

const plain: Partial<UserMessage> = { priority: "later" };

const isClear = ([only, ...others]: readonly InputBlock[]): boolean =>
  others.length === 0 && only?.type === "text" && /^\/(?:clear|reset|new)\s*$/.test(only.text);

/** No turn, no input that waits, and no task whose end the model is to hear of. */
async function untilDone(session: OpenSession): Promise<void> {
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

/** Thrown by the iterator when the program's own controller was aborted. */
export class AbortError extends Error {}
