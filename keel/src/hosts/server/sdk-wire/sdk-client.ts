/**
 * A program of the official SDK that is attached to a session of the server: the lines that it would exchange with its
 * executable, over whatever carries them. Many may be attached to one session; each is asked what a person is asked, and
 * the first answer counts.
 */
import { randomUUID } from "node:crypto";
import type { OpenSession } from "../../../app/open-session.ts";
import type { ServedSessions } from "../../../app/sessions/served-sessions.ts";
import { type Fault, toFault } from "../../../kernel/fault.ts";
import { uuidFrom } from "../../../kernel/uuid.ts";
import { type Caller, mayDo } from "../../../protocol/operation.ts";
import { ControlError } from "../../../sdk/control/channel.ts";
import { ControlHost, serverListMs } from "../../../sdk/control/control-host.ts";
import type { ControlFrame, ReceivedFrame } from "../../../sdk/control/frames.ts";
import type { InitializeRequest } from "../../../sdk/control/host-requests.ts";
import { remoteElicitation, remotePermission } from "../../../sdk/control/remote-callbacks.ts";
import type { SDKSentMessage } from "../../../sdk/messages/messages.ts";
import type { CanUseTool } from "../../../sdk/options/callbacks.ts";
import { Conversation } from "../../../sdk/query/conversation.ts";

export type SdkSession = {
  readonly served: Pick<ServedSessions, "lend" | "sessions">;
  readonly session: string;
  readonly caller: Caller;
  readonly version: string;
  /** Whether prompts are told again as messages, for those who did not send them. */
  readonly echoes: boolean;
  /** Whether replies are told piece by piece, too. */
  readonly pieces: boolean;
};

export type SdkOutlet = {
  /** False when the other side reads too slowly. */
  push(message: SDKSentMessage): boolean;
  send(frame: ControlFrame): void;
  /** It is over: the session has ended, or the fault that broke it. */
  end(fault?: Fault): void;
};

/** The session as it was lent, for who must see what happens before its messages are told. */
export type Lent = (session: OpenSession) => OpenSession;

export class SdkClient {
  readonly #options: SdkSession;
  readonly #out: SdkOutlet;
  readonly #lent: Lent;
  readonly #control: ControlHost;
  #told = 0;

  constructor(options: SdkSession, out: SdkOutlet, lent: Lent = (session) => session) {
    this.#options = options;
    this.#out = out;
    this.#lent = lent;
    this.#control = new ControlHost({
      version: options.version,
      newId: () => randomUUID(),
      send: (frame) => out.send(frame),
      open: () => this.#open(),
      introduction: (said) => this.#introduce(said),
      badLine: (fault) => this.#tell(fault),
      refused: (fault) => this.#tell(fault),
      withoutTurn: () => undefined,
      enoughListed: () => AbortSignal.timeout(serverListMs),
      leftOut: (name, why) =>
        this.#tell({ code: "mcp_failed", message: `The server ${name} is left out: ${why}` }),
    });
  }

  /** Attaches; messages are told from now on. Throws `session_unknown`, and what keeps the session from opening. */
  async start(): Promise<void> {
    await this.#control.start();
  }

  take(frame: ReceivedFrame): void {
    this.#control.take(frame);
  }

  /** Resolves when there is room for more lines. */
  room(): Promise<void> {
    return this.#control.room();
  }

  /** Lets go: the session goes on. */
  async detach(): Promise<void> {
    this.#control.channel.stop("The client is gone.");
    await this.#control.conversation?.close();
  }

  async #open(): Promise<Conversation> {
    const { served, session: id, caller, echoes, pieces } = this.#options;
    const session = this.#lent(await served.lend(id, caller));
    void session.closed.then(() => this.#out.end());
    const home = { open: async () => session, sessions: served.sessions };
    return new Conversation(
      {
        cwd: session.info.cwd,
        includePartialMessages: pieces,
        canUseTool: this.#permission(),
        onElicitation: remoteElicitation(this.#control.channel),
        ...(echoes ? { extraArgs: { "replay-user-messages": null } } : {}),
      },
      {
        push: (message) => this.#out.push(message),
        fail: (thrown) => this.#out.end(toFault(thrown)),
        end: () => this.#out.end(),
      },
      { findHome: async () => home },
    );
  }

  /** Who has no callback, or may not answer, leaves it to others: a question is not refused because somebody looks on. */
  #permission(): CanUseTool {
    if (!mayDo(this.#options.caller.access, "answer")) return async () => null;
    const ask = remotePermission(this.#control.channel, {
      asked: () => undefined,
      answered: () => undefined,
    });
    return async (...question) => {
      try {
        return await ask(...question);
      } catch (thrown) {
        if (thrown instanceof ControlError) return null;
        throw thrown;
      }
    };
  }

  /** A session that others have too is not changed by who comes later: its tools are added, its hooks are not. */
  async #introduce(said: InitializeRequest): Promise<Record<string, unknown>> {
    const { servers, conversation } = this.#control;
    if (said.sdkMcpServers?.length)
      await (await conversation?.servers())?.set(await servers.connect(said, this.#control.listing()));
    const wantsHooks = Object.keys(said.hooks ?? {}).length > 0;
    if (wantsHooks)
      this.#tell({
        code: "usage",
        message: "Hooks of a program that attaches are not called: name them where the session is opened.",
      });
    return { hooks_applied: !wantsHooks };
  }

  #tell({ code, message }: Pick<Fault, "code" | "message">): void {
    const { session } = this.#options;
    this.#told += 1;
    this.#out.push({
      type: "system",
      subtype: "informational",
      level: "warning",
      content: message,
      tag: code,
      uuid: uuidFrom(`${session}/told/${this.#told}/${randomUUID()}`),
      session_id: session,
    });
  }
}
