/** The executable's session behind its wire: what its arguments say of it, its state, its transcript and its end. */
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { OpenSession } from "../../app/open-session.ts";
import { ControlHost, serverListMs } from "../../sdk/control/control-host.ts";
import type { ReceivedFrame } from "../../sdk/control/frames.ts";
import type { InitializeRequest } from "../../sdk/control/host-requests.ts";
import { remoteElicitation, remoteHooks, remotePermission } from "../../sdk/control/remote-callbacks.ts";
import type { Options } from "../../sdk/options/options.ts";
import { Conversation } from "../../sdk/query/conversation.ts";
import { rememberHomes } from "../../sdk/query/homes.ts";
import type { Context } from "../cli/context.ts";
import { awaitTasks } from "../cli/print/await-tasks.ts";
import type { WireValues } from "./options.ts";
import type { WireOutput } from "./output.ts";
import { sessionOptions } from "./session.ts";
import { WireState } from "./state.ts";
import { restoreSession, WireMirror } from "./transcript.ts";

/** The end of a session is told before the answers to what was asked last; those are waited for so long. */
const lastAnswersMs = 1_000;

export class WireHost {
  readonly #values: WireValues;
  readonly #context: Context;
  /** The one of this process, loaded with its session. */
  readonly #findHome = rememberHomes();
  readonly #output: WireOutput;
  readonly #control: ControlHost;
  readonly #state: WireState;
  readonly #mirror: WireMirror;
  readonly #inputEnded: PromiseWithResolvers<void> = Promise.withResolvers();

  constructor({ values, context, output }: { values: WireValues; context: Context; output: WireOutput }) {
    this.#values = values;
    this.#context = context;
    this.#output = output;
    this.#state = new WireState((message) => {
      if (context.env["CLAUDE_CODE_SDK_READS_SESSION_STATE"]) output.push(message);
    });
    const mirrored = values["session-mirror"] ? output.send.bind(output) : undefined;
    this.#mirror = new WireMirror(context, mirrored);
    this.#control = new ControlHost({
      version: context.version,
      newId: () => randomUUID(),
      send: (frame) => output.send(frame),
      open: (said) => this.#open(said),
      introduction: async (said, place) => ({
        pid: process.pid,
        // Who introduces itself after the session was opened comes too late with hooks.
        hooks_applied: place === "first" || said.hooks === undefined,
      }),
      badLine: (fault) => output.tellBad(fault),
      refused: (fault) => {
        // A session that did not open, or has ended, says so itself.
        if (!output.sessionId) return;
        output.tellBad(fault);
        this.#state.again();
      },
      withoutTurn: () => this.#state.again(),
      awaitsIntroduction: values["await-initialize"] === true,
      enoughListed: () => AbortSignal.timeout(serverListMs),
      leftOut: (name, why) => context.err.line(`keel: the server ${name} is left out: ${why}`),
    });
  }

  take(received: ReceivedFrame): void {
    this.#control.take(received);
  }

  /** Resolves when there is room for more lines. */
  room(): Promise<void> {
    return this.#control.room();
  }

  /** No more lines come: what was said is worked off, tasks in the background are waited for, then the session ends. */
  async endOfInput(): Promise<void> {
    await this.#control.end();
    this.#inputEnded.resolve();
    const started = this.#control.started();
    if (!started) return this.#output.end();
    try {
      const { conversation } = await started;
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
      const session = await (await this.#control.started())?.conversation.open();
      await session?.submit({ type: "interrupt", dropQueued: true });
      await session?.idle();
    } catch {
      // There is nothing left to interrupt.
    }
  }

  /** Closes whatever is open. Never throws. */
  async finish(): Promise<void> {
    await this.#control.conversation?.close().catch(() => undefined);
    await this.#mirror.flush();
    this.#control.channel.end("Stream closed");
    await Promise.race([this.#control.answered(), pause(lastAnswersMs, undefined, { ref: false })]);
  }

  async #open(said: InitializeRequest | undefined): Promise<Conversation> {
    try {
      const { resume } = this.#values;
      if (typeof resume === "string")
        await restoreSession(resume, this.#context, await this.#findHome(this.#context));
      const heard = (session: OpenSession): void => {
        this.#output.sessionId = session.id;
        this.#mirror.follow(session);
        this.#state.watch(session);
      };
      const conversation = new Conversation(await this.#optionsFor(said), this.#output, {
        heard,
        findHome: this.#findHome,
      });
      void conversation.live(until(this.#inputEnded.promise));
      return conversation;
    } catch (thrown) {
      this.#output.fail(thrown);
      throw thrown;
    }
  }

  async #optionsFor(said: InitializeRequest | undefined): Promise<Options> {
    const { channel, servers } = this.#control;
    const options = await sessionOptions(this.#values, said, this.#context);
    if (this.#values["permission-prompt-tool"] === "stdio")
      options.canUseTool = remotePermission(channel, this.#state.questions);
    if (said) options.onElicitation = remoteElicitation(channel);
    if (said?.hooks) options.hooks = remoteHooks(channel, said.hooks);
    const introduced = said?.sdkMcpServers?.length
      ? await servers.connect(said, this.#control.listing())
      : {};
    // Some SDKs name the program's own servers here, and do not introduce them.
    if (options.mcpServers)
      options.mcpServers = await servers.among(options.mcpServers, this.#control.listing());
    options.mcpServers = { ...options.mcpServers, ...introduced };
    return options;
  }
}

/** A prompt that says nothing by itself: the lines are said as they come. */
async function* until(ended: Promise<void>): AsyncGenerator<never> {
  await ended;
}
