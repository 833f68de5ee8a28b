/** Other agents as tools see them: who can be given work, giving it, and telling one of them something. */
import type { Json } from "../kernel/json.ts";
import type { Origin } from "../protocol/ask.ts";
import type { ResultPart } from "../protocol/message.ts";
import type { PermissionMode, SessionSettings } from "../protocol/settings.ts";
import type { Display } from "../protocol/tool.ts";
import type { FileLedger } from "./file-ledger.ts";
import type { ToolContext } from "./tool.ts";

/** How many messages have answered each other since a person spoke; `idleHops` of them with nothing done in between. */
export type MessageWay = { readonly hops: number; readonly idleHops: number };

export type SentAbout = {
  /** The same for a call that runs again after a crash. */
  readonly id: string;
  readonly way: MessageWay;
  readonly signal?: AbortSignal | undefined;
};

/** Sessions elsewhere that can be told something, by an address such as `session:<session>`. */
export type SessionPeers = {
  /** `from` is the session that says it. What went wrong is a sentence for the model. */
  send(
    from: string,
    to: string,
    words: string,
    about: SentAbout,
  ): Promise<{ readonly ok: boolean; readonly why?: string | undefined }>;
};

export type AgentOrder = {
  readonly kind: string;
  readonly description: string;
  readonly prompt: string;
  readonly model: string | undefined;
  readonly effort: SessionSettings["effort"];
  readonly name: string | undefined;
  readonly isolation: "worktree" | undefined;
  /** It changes nothing until whoever started it has approved its plan. */
  readonly plans?: boolean | undefined;
  /** Undefined: as the kind of agent says, else in the background. */
  readonly when: "background" | "foreground" | undefined;
};

/** The call that gives the work: the agent's session names it as its parent. */
export type AgentCallContext = Pick<ToolContext, "callId" | "tasks" | "ask" | "ledger" | "trace">;

export type AgentOutcome =
  | { readonly ok: true; readonly content: readonly ResultPart[]; readonly data: Json }
  | { readonly ok: false; readonly why: string };

export interface Agents {
  /** The kinds of agents that there are, and what each is for. */
  kinds(): readonly { readonly name: string; readonly description: string }[];
  /**
   * Runs until the agent has ended, or until it runs on in the background. For a call that ran before and whose process
   * ended, it gives what is known of that agent and starts none.
   */
  start(
    order: AgentOrder,
    context: AgentCallContext,
    signal: AbortSignal,
  ): AsyncGenerator<Display, AgentOutcome>;
  /**
   * Tells an agent something, by its id or name; one that has ended goes on in the background. `*` is everybody else of
   * the team. `approves`: its plan may be carried out.
   */
  send(
    message: { readonly to: string; readonly text: string; readonly approves?: boolean | undefined },
    context: AgentCallContext,
    signal: AbortSignal,
  ): Promise<AgentSendOutcome>;
  /** The team of the session, for its leader and its members. */
  team(): Promise<TeamCommands>;
}

/** `told`: how many it reached, where it was for several. */
export type AgentSendOutcome =
  | { readonly ok: true; readonly told?: number }
  | { readonly ok: false; readonly why: string };

export type ShutdownRequest = {
  /** By name; all who are there when left out. */
  readonly members: readonly string[] | undefined;
  readonly reason: string | undefined;
  /** How long they may take to answer and to end. */
  readonly ms: number;
  /** Nobody is asked. */
  readonly force: boolean;
};

/** What became of one who was asked to shut down. */
export type ShutdownOutcome = {
  readonly member: string;
  readonly how: "approved" | "objected" | "at_rest" | "stopped" | "left_before" | "unknown";
  readonly words: string;
};

/** What a leader may do with its team; `reply` is for its members. A sentence says why something cannot be. */
export type TeamCommands = {
  create(about: { readonly name: string; readonly description: string | undefined }): Promise<TeamSaid>;
  end(): Promise<TeamSaid>;
  shutdown(
    request: ShutdownRequest,
    context: AgentCallContext,
    signal: AbortSignal,
  ): Promise<
    { readonly ok: true; readonly outcomes: readonly ShutdownOutcome[] } | (TeamSaid & { ok: false })
  >;
  reply(answer: { readonly approve: boolean; readonly reason: string | undefined }): Promise<TeamSaid>;
};

export type TeamSaid = { readonly ok: boolean; readonly words: string };

/** What stands above the session of an agent, and bounds it. */
export type Above = {
  readonly origin: Origin;
  /** The session that the host opened: what hooks and files call the session. */
  readonly root: string;
  /** Under which address letters to `main` arrive. */
  readonly up: string;
  /** The mode that counts now: never further than that of the session above. */
  mode(): PermissionMode;
  /** Where it writes down what it changes; absent in a folder of its own, and where nothing is kept. */
  readonly ledger?: FileLedger | undefined;
};
