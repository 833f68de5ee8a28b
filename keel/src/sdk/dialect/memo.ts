/** What the dialect remembers between two events: enough to tell totals, and no more than the events themselves told. */
import type { Durable, Input } from "../../protocol/event/durable.ts";
import type { ToolUse } from "../../protocol/message.ts";
import type { Stop } from "../../protocol/reasons.ts";
import { type ItemizedBill, type ModelInfo, noUsage, type Usage } from "../../protocol/usage.ts";
import type { SDKPermissionDenial, SDKSentMessage, SDKSystemMessage } from "../messages/messages.ts";
import type { SDKBackgroundTasksChangedMessage } from "../messages/system.ts";

/** What `init` shows and no event tells. Model, mode and folder are corrected by the events. */
export type InitFacts = {
  readonly sessionId: string;
  readonly cwd: string;
  readonly model: string;
  readonly permissionMode: SDKSystemMessage["permissionMode"];
  readonly tools: readonly string[];
  readonly version: string;
  readonly apiKeySource: string;
  readonly mcpServers?: SDKSystemMessage["mcp_servers"];
  readonly slashCommands?: readonly string[];
  readonly agents?: readonly string[];
  readonly skills?: readonly string[];
  readonly plugins?: SDKSystemMessage["plugins"];
  readonly outputStyle?: string;
  /** Where notes of the project are kept, where there are any. */
  readonly memoryFolder?: string | undefined;
  readonly warnings?: readonly string[];
  readonly projectTrust?: NonNullable<SDKSystemMessage["project_trust"]>;
  /** Windows and output limits, by model, for `modelUsage`. */
  readonly models?: Readonly<Record<string, Pick<ModelInfo, "windowTokens" | "maxOutputTokens">>>;
  /** Whether `stream_event` messages are wanted. */
  readonly partialMessages?: boolean;
  /** Whether it is told when hooks run that are commands or addresses. */
  readonly hookEvents?: boolean;
  /** Whether words and thoughts of agents are told. */
  readonly agentText?: boolean;
  /** Whether the calls of each reply are told once more in a line, when all have ended. */
  readonly toolSummaries?: boolean;
  /** Whether prompts are echoed as `user` messages. */
  readonly replayUserMessages?: boolean;
};

/** For a log that is read without a session. */
export const noFacts: InitFacts = {
  sessionId: "",
  cwd: "",
  model: "",
  permissionMode: "default",
  tools: [],
  version: "",
  apiKeySource: "",
};

/** With what it tells of the session's bill. */
export type DialectMemo = Pick<ItemizedBill, "costUsd" | "models"> & {
  readonly facts: InitFacts;
  /** The newest durable event, and how many messages live ones have given since: together a name for the next. */
  readonly seq: number;
  readonly livesSince: number;
  /** Inputs that no turn has taken yet. */
  readonly inputs: ReadonlyMap<string, Input>;
  readonly turn: TurnMemo | null;
  readonly stream: StreamMemo | null;
  /** Tasks that were told of: as the list of running ones has them, or null when they have ended. */
  readonly tasks: ReadonlyMap<string, TaskMemo | null>;
  /** Milliseconds of run time at which a call's progress was last told. */
  readonly progress: ReadonlyMap<string, number>;
  readonly agents: ReadonlyMap<string, AgentMemo>;
  readonly results: number;
  /** What the newest result told of the bill. */
  readonly billed: ItemizedBill["models"];
  /** Agents that were started. */
  readonly spawned: number;
};

export type TaskMemo = {
  readonly about: SDKBackgroundTasksChangedMessage["tasks"][number];
  /** Whether its call waits for it, or it is one of the list. */
  readonly place: "foreground" | "background";
};

/** What is remembered of an agent that is at work. */
export type AgentMemo = {
  readonly memo: DialectMemo;
  readonly startedAt: number;
  readonly tokens: number;
  readonly toolUses: number;
  readonly lastTool: string | undefined;
};

export type TurnMemo = {
  readonly inputs: readonly Input[];
  /** User messages that the turn has given: what `num_turns` counts. */
  readonly userMessages: number;
  /** What the replies used; a compaction stands in the totals only. */
  readonly usage: Usage;
  readonly startedAt?: number | undefined;
  /** When its newest request was sent. */
  readonly askedAt?: number | undefined;
  /** Milliseconds from its start until its first request was sent. */
  readonly requestMs?: number | undefined;
  /** Milliseconds from its start until its first reply began. */
  readonly firstMs?: number | undefined;
  readonly stop: Stop | null;
  readonly text: string;
  /** Calls of the newest reply that have a result. */
  readonly settled: readonly ToolUse[];
  /** Calls of the newest reply that have no result yet. */
  readonly calls: ReadonlyMap<string, ToolUse>;
  /** By whose leave the calls run that have no result yet. */
  readonly leaves: ReadonlyMap<string, Leave>;
  readonly phase: "streaming" | "tools";
  readonly stoppedByTool: boolean;
  readonly denials: readonly SDKPermissionDenial[];
};

/** A reply whose events are being passed on. */
export type StreamMemo = {
  readonly requestId: string;
  readonly requestedAt: number;
  readonly providerId: string | undefined;
  readonly begun: boolean;
  /** The block that has begun and whose end was not passed on. */
  readonly block: number | null;
  readonly events: number;
};

/** What an event says to a program, and what to remember of it. */
export type DialectOutput<Message = SDKSentMessage> = [Message[], DialectMemo];
export type DurableOf<T extends Durable["type"]> = Extract<Durable, { type: T }>;
export type Leave = DurableOf<"tool.started">["by"];

export function newMemo(facts: InitFacts): DialectMemo {
  return {
    facts,
    seq: 0,
    livesSince: 0,
    inputs: new Map(),
    turn: null,
    stream: null,
    tasks: new Map(),
    progress: new Map(),
    agents: new Map(),
    costUsd: 0,
    models: {},
    results: 0,
    billed: {},
    spawned: 0,
  };
}

/** For what a host learns later: a server that connected, a tool that came. The next `init` shows it. */
export const withFacts = (memo: DialectMemo, facts: Partial<InitFacts>): DialectMemo => ({
  ...memo,
  facts: { ...memo.facts, ...facts },
});

export const newTurn = (inputs: readonly Input[], startedAt?: number): TurnMemo => ({
  inputs,
  startedAt,
  userMessages: 0,
  usage: noUsage,
  stop: null,
  text: "",
  settled: [],
  calls: new Map(),
  leaves: new Map(),
  phase: "streaming",
  stoppedByTool: false,
  denials: [],
});
