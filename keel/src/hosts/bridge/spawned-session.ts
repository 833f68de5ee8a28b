/**
 * A session that was spawned for a piece of work: it runs in this process, and what happens in it is told to the server
 * over a channel of its own, in order and once. What the server says to it is written to its input, a line each: calls,
 * and answers to what was asked. It goes on while the channel is cut.
 */
import type { ServedSessions } from "../../app/sessions/served-sessions.ts";
import type { RetryPorts } from "../../kernel/backoff.ts";
import { Fault, fault, toFault } from "../../kernel/fault.ts";
import { isObject, parseJson } from "../../kernel/json.ts";
import type { Ask } from "../../protocol/ask.ts";
import {
  type BridgedAnswer,
  bridgedAnswerSchema,
  bridgedOperations,
  type IngressLine,
  type SessionDoneStatus,
  type SessionLine,
  sessionLineSchema,
} from "../../protocol/bridge.ts";
import { commandSchema } from "../../protocol/command.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import { type Envelope, isDurable } from "../../protocol/event/envelope.ts";
import type { AnswerTo, Caller } from "../../protocol/operation.ts";
import type { ChannelVia, ChannelWire } from "../../transport/node/channel-wire.ts";
import { keepChannel } from "./kept-channel.ts";
import { SessionOutbox } from "./session-outbox.ts";

export type SpawnedSessionOptions = {
  readonly id: string;
  readonly key: string;
  readonly token?: string | undefined;
  /** It was closed for good: only the rest of it is told. */
  readonly isEnding: boolean;
  readonly served: Pick<ServedSessions, "call" | "follow">;
  readonly retry: RetryPorts;
  readonly via?: ChannelVia | undefined;
  connect(via: ChannelVia, signal: AbortSignal): Promise<ChannelWire>;
  /** Before it is closed for good. */
  ending(): Promise<void>;
  /** The token was taken. */
  admitted(): void;
};

/** As the document has it. */
export type SpawnedHandle = {
  readonly sessionId: string;
  readonly done: Promise<SessionDoneStatus>;
  kill(): void;
  writeStdin(data: string): void;
};

const own: Caller = { access: "work", name: "the bridge" };

export class SpawnedSession implements SpawnedHandle {
  readonly sessionId: string;
  readonly done: Promise<SessionDoneStatus>;
  readonly #options: SpawnedSessionOptions;
  readonly #over = new AbortController();
  readonly #ended = Promise.withResolvers<SessionDoneStatus>();
  readonly #out = new SessionOutbox();
  #pump: AbortController | undefined;
  #isEnding: boolean;
  #isAdmitted = false;
  readonly #replies = new Map<string, (answer: unknown) => void>();
  #lastReply = 0;

  constructor(options: SpawnedSessionOptions) {
    this.#options = options;
    this.sessionId = options.id;
    this.done = this.#ended.promise;
    this.#isEnding = options.isEnding;
    void this.#run();
  }

  /** Ends the session for good; `done` says so when the server knows it all. */
  kill(): void {
    void this.#end().catch(() => this.#finish("failed"));
  }

  /** Lets go of it: it goes on with the next start of the bridge. */
  detach(): void {
    this.#over.abort();
    this.#out.close();
  }

  /** A line of the server. What is none is passed over. */
  writeStdin(data: string): void {
    for (const line of data.split("\n")) {
      const parsed = sessionLineSchema.safeParse(parseJson(line));
      if (parsed.success) this.#take(parsed.data);
    }
  }

  /** Words for another session behind a bridge. */
  sendMessage(to: string, message: string, from: string): Promise<{ ok: boolean; why?: string }> {
    if (!this.#out.isOpen) return Promise.resolve({ ok: false, why: "The server cannot be reached now." });
    const request_id = `message-${++this.#lastReply}`;
    const reply = Promise.withResolvers<{ ok: boolean; why?: string }>();
    this.#replies.set(request_id, (answer) => reply.resolve(answer as { ok: boolean; why?: string }));
    this.#out.send({
      type: "control_request",
      request_id,
      request: { subtype: "send_message", to, message, from },
    });
    return reply.promise;
  }

  async #run(): Promise<void> {
    const { connect, retry, via } = this.#options;
    const options = {
      retry,
      via,
      open: (by: ChannelVia, signal: AbortSignal) => connect(by, signal),
      begin: (wire: ChannelWire, greeted: () => void) => {
        this.#out.open(wire);
        wire.onMessage((message) => {
          greeted();
          this.writeStdin(message);
        });
        void this.#attach().catch(() => wire.close());
      },
      lost: () => this.#lose(),
    };
    try {
      const how = await keepChannel(options, this.#over.signal);
      if (how === "given-up") this.#finish("failed");
    } catch {
      this.#finish("failed");
    }
  }

  async #attach(): Promise<void> {
    const { id, key, token } = this.#options;
    const { seq } = (await this.#call("session", {})) as AnswerTo<"session">;
    this.#out.send({
      type: "attach",
      session_id: id,
      key,
      ...(token === undefined || this.#isAdmitted ? {} : { token }),
      seq,
    });
  }

  #lose(): void {
    this.#pump?.abort();
    this.#out.lose();
    for (const answer of this.#replies.values())
      answer({ ok: false, why: "The server cannot be reached now." });
    this.#replies.clear();
  }

  #take(line: SessionLine): void {
    switch (line.type) {
      case "attached":
        this.#isAdmitted = true;
        this.#options.admitted();
        return void this.#tellFrom(line.after);
      case "ack":
        return this.#out.safe(line.seq);
      case "control_request":
        return void this.#answerCall(line);
      case "control_response":
        return void this.#takeResponse(line);
      case "end":
        // Another connection of ours has come: this one is not needed any more.
        if (line.reason === "replaced") return this.#out.close();
        // A token that was not used yet may have been replaced by another, which is on its way.
        if (line.reason === "refused" && !this.#isAdmitted && this.#options.token !== undefined)
          return this.detach();
        return this.#finish("failed");
    }
  }

  /** All that came after an event, then what happens; the questions that are open first. */
  async #tellFrom(after: number): Promise<void> {
    const stop = new AbortController();
    this.#pump?.abort();
    this.#pump = stop;
    try {
      if (this.#isEnding) return await this.#tellRest(after, stop.signal);
      const asks = (await this.#call("asks", {})) as readonly Ask[];
      for (const ask of asks) this.#ask(ask);
      const { working } = (await this.#call("session", {})) as AnswerTo<"session">;
      const state = asks.length > 0 ? "requires_action" : working ? "running" : "idle";
      this.#out.send({ type: "session_state", state });
      const { served, id } = this.#options;
      let last = after;
      for await (const event of await served.follow(id, after, stop.signal)) {
        if (isOwn(event)) last = event.seq;
        await this.#tell(event, stop.signal);
        if (stop.signal.aborted) return;
      }
      // It was closed, or this process ends: then it goes on with the next one.
      if (this.#isEnding && !stop.signal.aborted) await this.#tellRest(last, stop.signal);
    } catch (thrown) {
      if (!stop.signal.aborted && !isOver(thrown)) this.#out.close();
    }
  }

  /** A session that is closed is not opened for it. */
  async #tellRest(after: number, signal: AbortSignal): Promise<void> {
    let last = after;
    for (let more = true; more && !signal.aborted; ) {
      const page = (await this.#call("history", { after: last })) as AnswerTo<"history">;
      for (const event of page.events) {
        last = event.seq;
        await this.#tell(event, signal);
      }
      more = page.more && page.events.length > 0;
    }
    await this.#out.settled(signal);
    if (!signal.aborted) this.#finish("completed");
  }

  /** What must arrive waits for room; what is live does not. */
  async #tell(event: Envelope, signal: AbortSignal): Promise<void> {
    if (isOwn(event)) {
      if (!(await this.#out.sendEvent(event, signal))) return;
    } else if (isDurable(event) || !this.#out.isBusy) this.#out.send({ type: "event", event });
    if (event.type === "ask.opened")
      this.#ask({ ...event.ask, ...(event.origin ? { origin: event.origin } : {}) });
    if (event.type === "ask.closed")
      this.#out.send({ type: "control_cancel_request", request_id: event.askId });
    const state = (event.origin ? statesOfAgents : states)[event.type];
    if (state) this.#out.send({ type: "session_state", state });
  }

  #ask(ask: Ask): void {
    const request =
      ask.tool === undefined
        ? ({ subtype: "elicitation", ask } as const)
        : ({
            subtype: "can_use_tool",
            tool_name: ask.tool,
            ...(ask.input === undefined ? {} : { input: ask.input }),
            ...(ask.callId === undefined ? {} : { tool_use_id: ask.callId }),
            ask,
          } as const);
    this.#out.send({ type: "control_request", request_id: ask.id, request });
  }

  async #answerCall({
    request_id,
    request: { operation, question, name },
  }: Extract<SessionLine, { type: "control_request" }>): Promise<void> {
    try {
      const known = bridgedOperations.find((one) => one === operation);
      if (!known || !isObject(question))
        throw fault("work_refused", { reason: `${operation} does not cross a bridge.` });
      const asked = known === "submit" ? mildSubmit(question) : question;
      if (known === "submit" && isObject(asked["command"]) && asked["command"]["type"] === "close") {
        await this.#end();
        return this.#out.send(success(request_id, { type: "done" }));
      }
      const answer = await this.#call(known, asked, name);
      this.#out.send(success(request_id, answer));
    } catch (thrown) {
      const failure = toFault(thrown);
      this.#out.send({
        type: "control_response",
        response: { subtype: "error", request_id, error: failure.message, fault: failure.toData() },
      });
    }
  }

  /** An answer of a person, or what became of a message. */
  async #takeResponse({ response }: Extract<SessionLine, { type: "control_response" }>): Promise<void> {
    const waiting = this.#replies.get(response.request_id);
    if (waiting) {
      this.#replies.delete(response.request_id);
      return waiting(response.subtype === "success" ? response.response : { ok: false, why: response.error });
    }
    const parsed =
      response.subtype === "success" ? bridgedAnswerSchema.safeParse(response.response) : undefined;
    if (!parsed?.success) return;
    const { command_id, name, ...answer } = parsed.data;
    try {
      const command = commandSchema.parse(answerCommand(response.request_id, answer));
      const receipt = await this.#call("submit", { commandId: command_id, command }, name);
      this.#out.send({ type: "control_receipt", command_id, receipt: receipt as AnswerTo<"submit"> });
    } catch {
      // Whoever answered asks again, or is told that nobody answers.
      this.#out.close();
    }
  }

  #call(operation: "session" | "submit" | "asks" | "inquire" | "history", question: object, name = own.name) {
    const { served, id } = this.#options;
    return served.call(operation, { ...question, session: id }, { ...own, name });
  }

  async #end(): Promise<void> {
    if (this.#isEnding) return;
    await this.#options.ending();
    this.#isEnding = true;
    await this.#call("submit", { command: { type: "close" } });
  }

  #finish(status: SessionDoneStatus): void {
    this.#ended.resolve(status);
    this.detach();
  }
}

type BridgedState = Extract<IngressLine, { type: "session_state" }>["state"];
type StatesByEvent = { readonly [Type in Envelope["type"]]?: BridgedState };

/** How the session stands after an event. What an agent below it asks is asked of it. */
const statesOfAgents: StatesByEvent = { "ask.opened": "requires_action", "ask.closed": "running" };
const states: StatesByEvent = { ...statesOfAgents, "turn.started": "running", "turn.finished": "idle" };

const isOwn = (event: Envelope): event is Durable => isDurable(event) && !event.origin;

const isOver = (thrown: unknown): boolean => thrown instanceof Fault && thrown.code === "session_closed";

const success = (request_id: string, response: unknown): IngressLine => ({
  type: "control_response",
  response: { subtype: "success", request_id, response },
});

/** The document's words count, and what of our own answer they do not say. */
const answerCommand = (
  askId: string,
  { behavior, message, updatedInput, answer }: Omit<BridgedAnswer, "command_id" | "name">,
): object => ({
  type: "answer",
  askId,
  answer: {
    ...(isObject(answer) ? answer : {}),
    verdict: behavior,
    ...(message === undefined ? {} : { reason: message }),
    ...(updatedInput === undefined ? {} : { input: updatedInput }),
  },
});

/** What somebody elsewhere says is words for the model: no command of this machine's person, and no rule of theirs. */
function mildSubmit(question: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { command } = question;
  if (!isObject(command) || command["type"] !== "input") return { ...question };
  if (command["words"] === "shell" || command["words"] === "note")
    throw fault("work_refused", { reason: "Commands and notes of a person do not cross a bridge." });
  const { allow: _, ...rest } = command;
  return { ...question, command: rest };
}
