/**
 * Conversations over two streams: requests in, responses out. This object holds wiring only: what a line means is in
 * `requests.ts`, what an event is called in `dialect.ts`, and everything that lasts is in the logs of the sessions.
 */
import type { Home } from "../../app/home.ts";
import type { LineEnding, LineHost, LineOutput } from "../../app/lines/line-host.ts";
import { HostOutlet } from "../../app/lines/outlet.ts";
import { complaintOf } from "../../app/lines/read-line.ts";
import type { OpenOptions } from "../../app/options.ts";
import { within } from "../../kernel/deadline.ts";
import { type Fault, toFault } from "../../kernel/fault.ts";
import { exitCodes } from "../../kernel/faults.ts";
import { type JsonObject, toLine } from "../../kernel/json.ts";
import { failed, never, ok, type Result } from "../../kernel/result.ts";
import type { LineRead } from "../../transport/lines.ts";
import { type ConversationWorld, DesktopConversation } from "./conversation.ts";
import { type ConversationList, conversationJson, messageJson } from "./conversation-list.ts";
import { type DesktopRequest, type RequestOf, readRequest } from "./requests.ts";
import { type DesktopResponse, protocolVersion, type ResponseOf } from "./responses.ts";

export type DesktopOptions = {
  readonly version: string;
  readonly home: Home;
  readonly conversations: ConversationList;
  /** How each session is opened; which one is found out here. */
  options(): Promise<OpenOptions>;
  readonly model: string | undefined;
  readonly out: LineOutput;
  log(words: string): void;
} & Pick<ConversationWorld, "asks" | "askMs" | "messageMs">;

/** Every request but a message: none of them waits for a model. */
const requestMs = 30_000;
/** Conversations that stay open; of more the one that rested longest is closed, and its log has it. */
const maxOpen = 16;
/** Messages that wait in one conversation. */
const maxWaiting = 100;

const overOrNone = "There is no such question, or it is over.";

type Complaint = { readonly code: ResponseOf<"error">["code"]; readonly message: string };
type RequestAnswer = Result<JsonObject, Complaint>;

/** Which conversation is meant where none is named. What turns out not to be there gives way to the one before. */
type Choice = { readonly id: string; before: Choice | undefined; isThere: boolean };

export class Desktop implements LineHost {
  readonly #wish: DesktopOptions;
  readonly #outlet: HostOutlet<DesktopResponse>;
  readonly #world: ConversationWorld;
  /** The one that was used last is the last. */
  readonly #open = new Map<string, DesktopConversation>();
  #chosen: Choice | undefined;
  readonly #answering = new Set<Promise<void>>();
  readonly #startedMs: number;
  #isClosing = false;
  #isLagging = false;
  readonly #ending = Promise.withResolvers<LineEnding>();
  readonly ended: Promise<LineEnding> = this.#ending.promise;

  constructor(wish: DesktopOptions) {
    this.#wish = wish;
    const { home, conversations, options, out, log, asks, askMs, messageMs } = wish;
    const { clock } = home;
    this.#startedMs = clock.monotonicMs();
    this.#outlet = new HostOutlet(out, {
      isPastime: () => false,
      textOf: (told) => (told.type === "token" ? told.token : undefined),
      join: (held, next) =>
        held.type === "token" &&
        next.type === "token" &&
        next.id === held.id &&
        next.conversation_id === held.conversation_id
          ? { ...next, token: held.token + next.token }
          : undefined,
      line: ({ type, ...fields }) => toLine({ type, ...fields, timestamp: clock.now() }),
    });
    this.#world = {
      clock,
      uuid: () => home.ids.uuid(),
      async open(id) {
        const which = await conversations.choiceOf(id);
        return home.open({ ...(await options()), which });
      },
      isEmpty: (id) => conversations.isEmpty(id),
      tell: (response) => this.tell(response),
      log,
      asks,
      askMs,
      messageMs,
    };
  }

  tell(response: DesktopResponse): void {
    const { isBehind } = this.#outlet;
    if (isBehind && !this.#isLagging) this.#wish.log("The reader of our output lags; tokens are joined.");
    this.#isLagging = isBehind;
    this.#outlet.tell(response);
  }

  /** A shell may start before there is a key or a network: nothing is opened yet. */
  async open(): Promise<void> {
    this.tell({
      type: "ready",
      protocol: protocolVersion,
      version: this.#wish.version,
      capabilities: ["images", "asks", "conversations", "agents", "slash_commands", "status"],
    });
  }

  read(line: LineRead): void {
    const request = readRequest(line);
    if (!request) return;
    if (!request.ok) return this.#complain(request.error);
    if (this.#isClosing)
      return this.#complain({ code: "closed", message: "Everything is ending.", id: request.value.id });
    this.#take(request.value);
  }

  async inputEnded(): Promise<void> {
    for (const conversation of this.#open.values()) conversation.refuseAll();
    const over = Promise.all([
      ...this.#answering,
      ...[...this.#open.values()].map((conversation) => conversation.idle()),
    ]);
    await Promise.race([over, this.ended]);
    this.stop({ reason: "end of input", code: exitCodes.ended });
  }

  stop(ending: LineEnding): void {
    this.#isClosing = true;
    this.#ending.resolve(ending);
  }

  tellFatal({ message, code }: Fault): void {
    this.tell({ type: "error", error: message.slice(0, 1_000), code: "fatal", fault: code });
  }

  async close({ reason, code }: LineEnding): Promise<void> {
    this.#isClosing = true;
    await Promise.allSettled([...this.#open.values()].map((conversation) => conversation.close()));
    await this.#wish.home.close();
    if (code !== exitCodes.ended) this.#wish.log(`Ended: ${reason}.`);
  }

  #take(request: DesktopRequest): void {
    if (request.kind === "user_message") return this.#takeMessage(request);
    const { home } = this.#wish;
    const limits = {
      clock: home.clock,
      ms: request.timeout_ms ?? requestMs,
      signal: new AbortController().signal,
    };
    const { id } = request;
    const work = within(limits, () => this.#answer(request)).then(
      (end) => {
        if (end.kind !== "done")
          return this.#complain({ id, code: "timeout", message: "The request took longer than its limit." });
        if (!end.value.ok) return this.#complain({ id, ...end.value.error });
        this.tell({ type: "done", id, data: end.value.value });
      },
      (thrown: unknown) => {
        const fault = toFault(thrown);
        const { code, message: error } = complaintOf(fault);
        this.tell({ type: "error", id, code, error, fault: fault.code });
      },
    );
    const done = work.finally(() => this.#answering.delete(done));
    this.#answering.add(done);
  }

  #takeMessage(request: RequestOf<"user_message">): void {
    const known = request.conversation_id ?? this.#current();
    const wanted = known ?? this.#wish.home.ids.uuid();
    if (known === undefined) {
      this.#wish.conversations.begin(wanted);
      this.#choose(wanted);
    }
    const conversation = this.#conversation(wanted);
    if (conversation.idsOf("waiting").length >= maxWaiting)
      return this.#complain({ code: "queue_full", message: "Too many messages wait.", id: request.id });
    conversation.take(request);
    void this.#closeResting();
  }

  /** What `done` carries. What it means for later lines happens at once: they may be here already. Throws a Fault. */
  async #answer(request: Exclude<DesktopRequest, { kind: "user_message" }>): Promise<RequestAnswer> {
    const { conversations } = this.#wish;
    const current = this.#current();
    switch (request.kind) {
      case "new_conversation": {
        const id = this.#wish.home.ids.uuid();
        const choice = this.#choose(id);
        const made = await conversations.create(id);
        choice.before = undefined;
        return ok({ conversation: conversationJson(made) });
      }
      case "load_conversation":
        return this.#load(request.conversation_id);
      case "list_conversations": {
        const all = await conversations.list(request.limit ?? undefined);
        return ok({ conversations: all.map(conversationJson) });
      }
      case "delete_conversation":
        return this.#delete(request.conversation_id);
      case "clear_history": {
        const id = request.conversation_id ?? current;
        if (id === undefined) return ok({ stopped: [] });
        try {
          return ok({ conversation_id: id, stopped: await this.#conversation(id).clear() });
        } finally {
          void this.#closeResting();
        }
      }
      case "interrupt": {
        const id = request.conversation_id ?? current;
        return ok({ interrupted: (id !== undefined && (await this.#open.get(id)?.interrupt())) || [] });
      }
      case "get_status":
        return ok(await this.#status(request.conversation_id ?? current));
      case "answer_ask": {
        const asking = [...this.#open.values()].find((one) => one.hasAsk(request.ask_id));
        if (!asking) return failed({ code: "unknown_id", message: overOrNone });
        const answered = await asking.answer(request);
        return answered.ok
          ? ok({ ask_id: request.ask_id })
          : failed({ code: "bad_field", message: answered.error });
      }
      default:
        return never(request);
    }
  }

  async #load(id: string): Promise<RequestAnswer> {
    const choice = this.#choose(id);
    try {
      const { conversation, messages } = await this.#wish.conversations.load(id);
      choice.before = undefined;
      return ok({ conversation: conversationJson(conversation), messages: messages.map(messageJson) });
    } catch (thrown) {
      choice.isThere = false;
      throw thrown;
    }
  }

  #choose(id: string): Choice {
    this.#chosen = { id, before: this.#chosen, isThere: true };
    return this.#chosen;
  }

  #current(): string | undefined {
    while (this.#chosen && !this.#chosen.isThere) this.#chosen = this.#chosen.before;
    return this.#chosen?.id;
  }

  async #delete(id: string): Promise<RequestAnswer> {
    const open = this.#open.get(id);
    const stopped = [...(open?.idsOf("running") ?? []), ...(open?.idsOf("waiting") ?? [])];
    this.#open.delete(id);
    if (this.#current() === id) this.#chosen = undefined;
    await open?.close();
    await this.#wish.conversations.delete(id);
    return ok({ conversation_id: id, stopped });
  }

  async #status(id: string | undefined): Promise<JsonObject> {
    const { home, version, conversations, model } = this.#wish;
    const all = [...this.#open.values()];
    const asks = all.reduce((sum, one) => sum + one.asks, 0);
    const isEmpty = id === undefined || (await conversations.isEmpty(id));
    return {
      state: asks > 0 ? "asking" : all.some(({ isBusy }) => isBusy) ? "processing" : "ready",
      conversationLength: isEmpty ? 0 : (await conversations.load(id)).messages.length,
      uptime: Math.round(home.clock.monotonicMs() - this.#startedMs),
      conversation_id: id ?? null,
      running: all.flatMap((one) => one.idsOf("running")),
      waiting: all.flatMap((one) => one.idsOf("waiting")),
      asks,
      open: all.length,
      readerLags: this.#outlet.isBehind,
      protocol: protocolVersion,
      version,
      model: model ?? null,
    };
  }

  /** Its place is that of the one that was used last. */
  #conversation(id: string): DesktopConversation {
    const conversation = this.#open.get(id) ?? new DesktopConversation(id, this.#world);
    this.#open.delete(id);
    this.#open.set(id, conversation);
    return conversation;
  }

  async #closeResting(): Promise<void> {
    const resting = [...this.#open.values()].find(({ isBusy, asks }) => !isBusy && asks === 0);
    if (this.#open.size <= maxOpen || !resting) return;
    this.#open.delete(resting.id);
    await resting.close().catch((thrown: unknown) => this.#wish.log(toFault(thrown).message));
  }

  #complain({ code, message, id }: Complaint & { readonly id?: string | undefined }): void {
    this.tell({ type: "error", error: message, code, ...(id === undefined ? {} : { id }) });
  }
}
