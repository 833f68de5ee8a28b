/**
 * The points at which user code may add, change or stop. Events observe; hooks intercept. A hook may deny, ask, or
 * allow what rules do not deny; it never lifts a deny, and an input that it changed is decided again.
 */
import type { Json } from "../kernel/json.ts";
import type { Answer } from "../protocol/ask.ts";
import type { Input } from "../protocol/event/durable.ts";
import type { LiveEvent } from "../protocol/event/live.ts";
import type { CompactTrigger, HookMomentOf, ModelSwitch, SessionStartSource } from "../protocol/hook.ts";
import type { ResultPart } from "../protocol/message.ts";
import type { Clock } from "./clock.ts";
import type { Consult } from "./consult.ts";

/** Where a hook is called: what it is told about the session, how long it may take, and who hears of its failure. */
export type HookContext = {
  readonly session: string;
  readonly cwd: string;
  readonly permissionMode: string;
  /** The input that the turn began with. */
  readonly inputId: string | undefined;
  /** The agent in which it happens, if it is one's. */
  readonly agent?: { readonly id: string; readonly kind: string } | undefined;
  readonly clock: Clock;
  readonly hookMs: number;
  /** A bound that also holds for hooks with a time limit of their own. */
  readonly maxMs?: number | undefined;
  readonly signal: AbortSignal;
  show(event: LiveEvent): void;
  newId(): string;
  /** Absent where there is no model to ask. */
  readonly consult?: Consult | undefined;
};

export type HookDecision = { readonly verdict: "allow" | "deny" | "ask"; readonly reason: string };

export type CallFacts = { readonly callId: string; readonly tool: string; readonly input: Json };

export type CallOutcome = CallFacts & {
  readonly failed: boolean;
  readonly interrupted: boolean;
  readonly content: readonly ResultPart[];
  readonly data: Json | undefined;
  readonly ms: number;
};

export type BeforeTool = {
  readonly decision?: HookDecision | undefined;
  /** The call is handed to the host: it does not run, and the turn ends. */
  readonly defer?: boolean | undefined;
  /** Replaces the input; it passes schema, check and policy like the model's own. */
  readonly input?: Json | undefined;
  readonly context: readonly string[];
  /** Ends the turn; the call does not run. */
  readonly stop?: string | undefined;
};

export type AfterTool = {
  readonly context: readonly string[];
  readonly content?: ResultPart[] | undefined;
  /** Replaces the result as data, together with `content`. */
  readonly data?: Json | undefined;
  readonly stop?: string | undefined;
};

export type AtInput = { readonly block?: string | undefined; readonly context: readonly string[] };

export type AtStart = { readonly context: readonly string[]; readonly title?: string | undefined };

/** `objection`: words that send the model back to work. `stop`: end now, whatever others say. */
export type AtStop = { readonly objection?: string | undefined; readonly stop?: string | undefined };

/** Moments at which nobody is asked for an opinion. */
export type ObservedMoment = HookMomentOf<
  "TaskCreated" | "TaskCompleted" | "DirectoryAdded" | "InstructionsLoaded"
>;

export type AgentStopFacts = {
  readonly agentId: string;
  readonly kind: string;
  readonly objections: number;
  readonly lastText: string;
  readonly transcript: string;
};

/** Never throws: a hook that fails has no opinion. */
export interface Hooks {
  /** Whether any hook looks at tool calls; without one, harmless calls may start while the reply still streams. */
  readonly watchTools: boolean;
  /** How the session begins for hooks, when its next input is taken; undefined when `start` was called. */
  begins(): "anew" | "cleared" | undefined;
  /** Once, before the first input of a process is taken, and after every compaction. */
  start(facts: { source: SessionStartSource; model: string }, context: HookContext): Promise<AtStart>;
  /** Only where `start` was called. After a reason `clear` the session begins once more. */
  end(facts: { reason: string }, context: HookContext): Promise<void>;
  input(input: Input, context: HookContext): Promise<AtInput>;
  beforeTool(call: CallFacts, context: HookContext): Promise<BeforeTool>;
  /** Runs beside the question to the host; the first answer counts. Undefined: no opinion. */
  permission(
    call: CallFacts & { readonly rules: readonly string[] },
    context: HookContext,
  ): Promise<Answer | undefined>;
  denied(call: CallFacts & { reason: string }, context: HookContext): Promise<void>;
  afterTool(call: CallOutcome, context: HookContext): Promise<AfterTool>;
  afterBatch(calls: readonly (CallFacts & { response?: Json })[], context: HookContext): Promise<AfterTool>;
  notify(facts: { message: string; title: string; kind: string }, context: HookContext): Promise<void>;
  stop(facts: { objections: number; lastText: string }, context: HookContext): Promise<AtStop>;
  stopFailed(
    facts: { error: string; details: string; lastText: string },
    context: HookContext,
  ): Promise<void>;
  compact(
    facts: { trigger: CompactTrigger; instructions?: string | undefined },
    context: HookContext,
  ): Promise<{ instructions?: string | undefined }>;
  compacted(facts: { trigger: CompactTrigger; summary: string }, context: HookContext): Promise<void>;
  /** Before the host's wish for another model counts. `deny`: it does not. */
  modelSwitch(facts: ModelSwitch, context: HookContext): Promise<{ deny?: string | undefined }>;
  modelSwitched(facts: ModelSwitch, context: HookContext): Promise<AtStart>;
  /** What happened and cannot be changed any more. */
  observe(moment: ObservedMoment, context: HookContext): Promise<void>;
  agentStarted(facts: { agentId: string; kind: string }, context: HookContext): Promise<AtStart>;
  agentStopped(facts: AgentStopFacts, context: HookContext): Promise<AtStop>;
}

export const noHooks: Hooks = {
  watchTools: false,
  begins: () => undefined,
  start: async () => ({ context: [] }),
  end: async () => undefined,
  input: async () => ({ context: [] }),
  beforeTool: async () => ({ context: [] }),
  permission: async () => undefined,
  denied: async () => undefined,
  afterTool: async () => ({ context: [] }),
  afterBatch: async () => ({ context: [] }),
  notify: async () => undefined,
  stop: async () => ({}),
  stopFailed: async () => undefined,
  compact: async () => ({}),
  compacted: async () => undefined,
  modelSwitch: async () => ({}),
  modelSwitched: async () => ({ context: [] }),
  observe: async () => undefined,
  agentStarted: async () => ({ context: [] }),
  agentStopped: async () => ({}),
};
