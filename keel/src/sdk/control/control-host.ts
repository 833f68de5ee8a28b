/**
 * The session behind a wire of control lines, whoever owns it: opened by the first line that needs it, fed in the order of
 * the lines. What is asked of it is answered by the table of requests; what a program would answer by a callback is asked
 * over the same wire.
 */
import type { OpenSession } from "../../app/open-session.ts";
import { type Fault, toFault } from "../../kernel/fault.ts";
import type { Ask } from "../../protocol/ask.ts";
import type { UserMessage } from "../messages/read-content.ts";
import type { Conversation } from "../query/conversation.ts";
import { methodsOf } from "../query/query.ts";
import type { QueryMethods } from "../query/query-methods.ts";
import { Channel } from "./channel.ts";
import type { ControlFrame, ControlRequest, ReceivedFrame } from "./frames.ts";
import { answerRequest, type InitializeRequest, isInOrder, readHostRequest } from "./host-requests.ts";
import { RemoteServers } from "./remote-servers.ts";

/** Lines that wait for the disk; more are not read. */
const maxWaiting = 1_000;

/** A program's server that does not say what it has is left out: the first turn does not wait for ever. */
export const serverListMs = 10_000;

export type ControlHostOptions = {
  readonly version: string;
  readonly newId: () => string;
  send(frame: ControlFrame): void;
  /** Makes the conversation with what was said first. What it throws is told to whoever needed it. */
  open(said: InitializeRequest | undefined): Promise<Conversation>;
  /** Does what an introduction wants beside opening, and says what else is told to whoever introduces itself. */
  introduction(said: InitializeRequest, place: "first" | "later"): Promise<Record<string, unknown>>;
  /** A line that is none. */
  badLine(fault: Fault): void;
  /** A message that the session did not take. */
  refused(fault: Fault): void;
  /** Something was said that has no turn. */
  withoutTurn(): void;
  /** Nothing is said to the session before somebody has introduced itself. */
  readonly awaitsIntroduction?: boolean;
  /** Fires when the servers of the program have had their time to say what they have. */
  enoughListed(): AbortSignal;
  /** A server of the program could not be used. */
  leftOut(name: string, why: string): void;
};

type StartedConversation = { readonly conversation: Conversation; readonly methods: QueryMethods };

export class ControlHost {
  readonly channel: Channel;
  readonly servers: RemoteServers;
  readonly #options: ControlHostOptions;
  readonly #introduced: PromiseWithResolvers<void> = Promise.withResolvers();
  #started: Promise<StartedConversation> | undefined;
  #conversation: Conversation | undefined;
  #session: OpenSession | undefined;
  #chain: Promise<void> = Promise.resolve();
  #waiting = 0;
  /** Answers that are not given yet: counted and not held, since whoever floods the wire waits for many. */
  #answers = 0;
  #allAnswered: (() => void) | undefined;

  constructor(options: ControlHostOptions) {
    this.#options = options;
    this.channel = new Channel({
      send: (frame) => options.send(frame),
      answer: (request) => this.#answer(request),
      newId: options.newId,
    });
    this.servers = new RemoteServers(this.channel);
    if (!options.awaitsIntroduction) this.#introduced.resolve();
  }

  /** Undefined before the first line that needed it. */
  get conversation(): Conversation | undefined {
    return this.#conversation;
  }

  /** What is neither is a sign of life, or a kind of message that only newer ones know. */
  take(received: ReceivedFrame): void {
    const frame = this.channel.take(received);
    if (frame?.kind === "bad") this.#options.badLine(frame.fault);
    if (frame?.kind === "user")
      void this.inOrder(() => this.#say(frame.message)).catch((thrown) =>
        this.#options.refused(toFault(thrown)),
      );
  }

  /** Resolves when there is room for more lines. */
  async room(): Promise<void> {
    if (this.#waiting >= maxWaiting) await this.#chain;
  }

  /** The other side sends nothing any more: resolves when all that it sent was taken. */
  async end(): Promise<void> {
    this.channel.end("Stream closed");
    this.#introduced.resolve();
    await this.#chain;
  }

  /** Resolves when what was asked is answered. */
  async answered(): Promise<void> {
    const answered = Promise.withResolvers<void>();
    this.#allAnswered = answered.resolve;
    if (this.#answers > 0) await answered.promise;
  }

  started(): Promise<StartedConversation> | undefined {
    return this.#started;
  }

  start(said?: InitializeRequest): Promise<StartedConversation> {
    this.#started ??= this.#open(said);
    this.#started.catch(() => undefined);
    return this.#started;
  }

  /** One after the other, in the order of the lines. */
  async inOrder<T>(work: () => Promise<T>): Promise<T> {
    this.#waiting += 1;
    const done = this.#chain.then(work).finally(() => {
      this.#waiting -= 1;
    });
    this.#chain = done.then(
      () => undefined,
      () => undefined,
    );
    return done;
  }

  /** What is asked of servers of the program when they are listed. */
  listing(): Parameters<RemoteServers["connect"]>[1] {
    return { signal: this.#options.enoughListed(), failed: this.#options.leftOut };
  }

  async #open(said: InitializeRequest | undefined): Promise<StartedConversation> {
    const conversation = await this.#options.open(said);
    this.#conversation = conversation;
    this.#session = await conversation.open();
    return { conversation, methods: methodsOf(conversation) };
  }

  async #answer(asked: ControlRequest["request"]): Promise<unknown> {
    this.#answers += 1;
    try {
      return await this.#answerTo(asked);
    } finally {
      this.#answers -= 1;
      if (this.#answers === 0) this.#allAnswered?.();
    }
  }

  async #answerTo(asked: ControlRequest["request"]): Promise<unknown> {
    const request = readHostRequest(asked);
    switch (request.subtype) {
      case "initialize":
        return this.#introduce(request);
      case "mcp_message":
        this.servers.hear(request);
        return undefined;
      case "end_session":
        void this.#conversation?.close();
        return undefined;
      default: {
        const work = async () => {
          const started = await this.start();
          const session = await started.conversation.open();
          return answerRequest(request, {
            ...started,
            session,
            version: this.#options.version,
            serversOf: (servers) => this.servers.among(servers, this.listing()),
          });
        };
        return isInOrder(request) && !this.#isStuck(request.subtype) ? this.inOrder(work) : work();
      }
    }
  }

  /** A line before it waits for an answer about its own words: whoever interrupts means that. */
  #isStuck(subtype: string): boolean {
    return subtype === "interrupt" && (this.#session?.openAsks().some(isOutsideCall) ?? false);
  }

  async #introduce(said: InitializeRequest): Promise<unknown> {
    const place = this.#started === undefined ? "first" : "later";
    const starting = this.start(said);
    this.#introduced.resolve();
    const { methods } = await starting;
    return {
      ...(await methods.initializationResult()),
      claude_code_version: this.#options.version,
      sdk_mcp_manifests_parked: true,
      ...(await this.#options.introduction(said, place)),
    };
  }

  async #say(message: UserMessage): Promise<void> {
    await this.#introduced.promise;
    const { conversation } = await this.start();
    await conversation.say(message);
    // Not every message has a turn: one that asks for no answer, or that clears the conversation.
    this.#session = await conversation.open();
    if (!this.#session.hasWork()) this.#options.withoutTurn();
  }
}

const isOutsideCall = ({ callId }: Ask): boolean => callId === undefined;
