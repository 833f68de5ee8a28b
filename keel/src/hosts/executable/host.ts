/** The session behind a wire: opened by the first line that needs it, fed in the order of the lines, closed at the end. */
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { OpenSession } from "../../app/open-session.ts";
import { toFault } from "../../kernel/fault.ts";
import type { Ask } from "../../protocol/ask.ts";
import { Channel } from "../../sdk/control/channel.ts";
import type { ControlRequest, ReceivedFrame } from "../../sdk/control/frames.ts";
import {
  answerRequest,
  type InitializeRequest,
  isInOrder,
  readHostRequest,
} from "../../sdk/control/host-requests.ts";
import { remoteElicitation, remoteHooks, remotePermission } from "../../sdk/control/remote-callbacks.ts";
import { RemoteServers } from "../../sdk/control/remote-servers.ts";
import type { UserMessage } from "../../sdk/messages/read-content.ts";
import type { Options } from "../../sdk/options/options.ts";
import { Conversation } from "../../sdk/query/conversation.ts";
import { rememberHomes } from "../../sdk/query/homes.ts";
import { methodsOf } from "../../sdk/query/query.ts";
import type { QueryMethods } from "../../sdk/query/query-methods.ts";
import type { Context } from "../cli/context.ts";
import { awaitTasks } from "../cli/print/await-tasks.ts";
import type { WireValues } from "./options.ts";
import type { WireOutput } from "./output.ts";
import { sessionOptions } from "./session.ts";
import { WireState } from "./state.ts";
import { restoreSession, WireMirror } from "./transcript.ts";

/** A program's server that does not say what it has is left out: the first turn does not wait for ever. */
const serverListMs = 10_000;
/** Lines that wait for the disk; more are not read. */
const maxWaiting = 1_000;
/** The end of a session is told before the answers to what was asked last; those are waited for so long. */
const lastAnswersMs = 1_000;
const lookEveryMs = 5;

type StartedConversation = { readonly conversation: Conversation; readonly methods: QueryMethods };

export class WireHost {
  readonly #values: WireValues;
  readonly #context: Context;
  /** The one of this process, loaded with its session. */
  readonly #findHome = rememberHomes();
  readonly #output: WireOutput;
  readonly #channel: Channel;
  readonly #servers: RemoteServers;
  readonly #state: WireState;
  readonly #mirror: WireMirror;
  readonly #inputEnded: PromiseWithResolvers<void> = Promise.withResolvers();
  readonly #introduced: PromiseWithResolvers<void> = Promise.withResolvers();
  #started: Promise<StartedConversation> | undefined;
  #conversation: Conversation | undefined;
  #session: OpenSession | undefined;
  #chain: Promise<void> = Promise.resolve();
  #waiting = 0;
  #answers = 0;

  constructor({ values, context, output }: { values: WireValues; context: Context; output: WireOutput }) {
    this.#values = values;
    this.#context = context;
    this.#output = output;
    this.#channel = new Channel({
      send: (frame) => output.send(frame),
      answer: (request) => this.#answer(request),
      newId: () => randomUUID(),
    });
    this.#servers = new RemoteServers(this.#channel);
    this.#state = new WireState((message) => {
      if (context.env["CLAUDE_CODE_SDK_READS_SESSION_STATE"]) output.push(message);
    });
    const mirrored = values["session-mirror"] ? output.send.bind(output) : undefined;
    this.#mirror = new WireMirror(context, mirrored);
    if (!values["await-initialize"]) this.#introduced.resolve();
  }

  /** What is neither is a sign of life, or a kind of message that only newer ones know. */
  take(received: ReceivedFrame): void {
    const frame = this.#channel.take(received);
    if (frame?.kind === "bad") this.#output.tellBad(frame.fault);
    if (frame?.kind === "user")
      void this.#inOrder(() => this.#say(frame.message)).catch((thrown) => this.#tellRefused(thrown));
  }

  /** Resolves when there is room for more lines. */
  async room(): Promise<void> {
    if (this.#waiting >= maxWaiting) await this.#chain;
  }

  /** No more lines come: what was said is worked off, tasks in the background are waited for, then the session ends. */
  async endOfInput(): Promise<void> {
    this.#channel.end("Stream closed");
    this.#introduced.resolve();
    await this.#chain;
    this.#inputEnded.resolve();
    if (!this.#started) return this.#output.end();
    try {
      const { conversation } = await this.#started;
      const session = await conversation.open();
      await session.idle();
      // Who interrupts here ends the session, and this wait with it.
      await awaitTasks(session, this.#context, new AbortController().signal);
      await conversation.close();
    } catch {
      // What broke the session was told where it broke.
    }
  }

  /** Ends the turn, and what waits behind it; then the session. */
  async interrupt(): Promise<void> {
    try {
      const session = await (await this.#started)?.conversation.open();
      await session?.submit({ type: "interrupt", dropQueued: true });
      await session?.idle();
    } catch {
      // There is nothing left to interrupt.
    }
  }

  /** Closes whatever is open. Never throws. */
  async finish(): Promise<void> {
    await this.#conversation?.close().catch(() => undefined);
    await this.#mirror.flush();
    this.#channel.end("Stream closed");
    const endsAt = performance.now() + lastAnswersMs;
    while (this.#answers > 0 && performance.now() < endsAt) await pause(lookEveryMs);
  }

  #answer(asked: ControlRequest["request"]): Promise<unknown> {
    this.#answers += 1;
    return this.#answerTo(asked).finally(() => {
      this.#answers -= 1;
    });
  }

  async #answerTo(asked: ControlRequest["request"]): Promise<unknown> {
    const request = readHostRequest(asked);
    switch (request.subtype) {
      case "initialize":
        return this.#introduce(request);
      case "mcp_message":
        this.#servers.hear(request);
        return undefined;
      case "end_session":
        void this.#conversation?.close();
        return undefined;
      default: {
        const work = async () => {
          const started = await this.#start();
          const session = await started.conversation.open();
          return answerRequest(request, {
            ...started,
            session,
            version: this.#context.version,
            serversOf: (servers) => this.#servers.among(servers, this.#listing()),
          });
        };
        return isInOrder(request) && !this.#isStuck(request.subtype) ? this.#inOrder(work) : work();
      }
    }
  }

  /** A line before it waits for an answer about its own words: whoever interrupts means that. */
  #isStuck(subtype: string): boolean {
    return subtype === "interrupt" && (this.#session?.openAsks().some(isOutsideCall) ?? false);
  }

  async #introduce(said: InitializeRequest): Promise<unknown> {
    const isFirst = this.#started === undefined;
    const starting = this.#start(said);
    this.#introduced.resolve();
    const { methods, conversation } = await starting;
    const { info } = await conversation.open();
    return {
      ...(await methods.initializationResult()),
      pid: process.pid,
      claude_code_version: this.#context.version,
      current_permission_mode: info.permissionMode,
      // Who introduces itself after the session was opened comes too late with hooks.
      hooks_applied: isFirst || said.hooks === undefined,
      hook_on_failure_supported: true,
      sdk_mcp_manifests_parked: true,
    };
  }

  async #say(message: UserMessage): Promise<void> {
    await this.#introduced.promise;
    const { conversation } = await this.#start();
    await conversation.say(message);
    // Not every message has a turn: one that asks for no answer, or that clears the conversation.
    const session = await conversation.open();
    if (!session.hasWork()) this.#state.again();
  }

  #tellRefused(thrown: unknown): void {
    // A session that did not open, or has ended, says so itself.
    if (!this.#output.sessionId) return;
    this.#output.tellBad(toFault(thrown));
    this.#state.again();
  }

  /** One after the other, in the order of the lines. */
  async #inOrder<T>(work: () => Promise<T>): Promise<T> {
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

  #start(said?: InitializeRequest): Promise<StartedConversation> {
    this.#started ??= this.#open(said);
    this.#started.catch(() => undefined);
    return this.#started;
  }

  async #open(said: InitializeRequest | undefined): Promise<StartedConversation> {
    let conversation: Conversation;
    try {
      const { resume } = this.#values;
      if (typeof resume === "string")
        await restoreSession(resume, this.#context, await this.#findHome(this.#context));
      const heard = (session: OpenSession): void => {
        this.#output.sessionId = session.id;
        this.#session = session;
        this.#mirror.follow(session);
        this.#state.watch(session);
      };
      conversation = new Conversation(await this.#optionsFor(said), this.#output, {
        heard,
        findHome: this.#findHome,
      });
    } catch (thrown) {
      this.#output.fail(thrown);
      throw thrown;
    }
    this.#conversation = conversation;
    void conversation.live(until(this.#inputEnded.promise));
    await conversation.open();
    return { conversation, methods: methodsOf(conversation) };
  }

  async #optionsFor(said: InitializeRequest | undefined): Promise<Options> {
    const options = await sessionOptions(this.#values, said, this.#context);
    if (this.#values["permission-prompt-tool"] === "stdio")
      options.canUseTool = remotePermission(this.#channel, this.#state.questions);
    if (said) options.onElicitation = remoteElicitation(this.#channel);
    if (said?.hooks) options.hooks = remoteHooks(this.#channel, said.hooks);
    const introduced = said?.sdkMcpServers?.length ? await this.#servers.connect(said, this.#listing()) : {};
    // Some SDKs name the program's own servers here, and do not introduce them.
    if (options.mcpServers)
      options.mcpServers = await this.#servers.among(options.mcpServers, this.#listing());
    options.mcpServers = { ...options.mcpServers, ...introduced };
    return options;
  }

  /** What is asked of servers of the program when they are listed. */
  #listing(): Parameters<RemoteServers["connect"]>[1] {
    return {
      signal: AbortSignal.timeout(serverListMs),
      failed: (name, why) => this.#context.err.line(`keel: the server ${name} is left out: ${why}`),
    };
  }
}

const isOutsideCall = ({ callId }: Ask): boolean => callId === undefined;

/** A prompt that says nothing by itself: the lines are said as they come. */
async function* until(ended: Promise<void>): AsyncGenerator<never> {
  await ended;
}
