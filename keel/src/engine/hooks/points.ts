/**
 * The points at which user code may add, change or stop. Events observe; hooks intercept. A hook may deny, ask, or
 * allow what rules do not deny; it never lifts a deny, and an input that it changed is decided again.
 */
import type { Json } from "../../kernel/json.ts";
import type { Input } from "../../protocol/event.ts";
import type { ResultPart } from "../../protocol/message.ts";

export type HookDecision = { readonly verdict: "allow" | "deny" | "ask"; readonly reason: string };

export type CallFacts = { readonly callId: string; readonly tool: string; readonly input: Json };

export type BeforeTool = {
  readonly decision?: HookDecision | undefined;
  /** Replaces the input; it passes schema, check and policy like the model's own. */
  readonly input?: Json | undefined;
  readonly context: readonly string[];
  /** Ends the turn after this call. */
  readonly stop?: string | undefined;
};

export type AfterTool = {
  readonly context: readonly string[];
  readonly content?: ResultPart[] | undefined;
  readonly stop?: string | undefined;
};

export type AtInput = { readonly block?: string | undefined; readonly context: readonly string[] };

/** `objection`: words that send the model back to work. `stop`: end now, whatever others say. */
export type AtStop = { readonly objection?: string | undefined; readonly stop?: string | undefined };

/** Never throws: a hook that fails has no opinion. */
export interface Hooks {
  /** Whether any hook looks at tool calls; without one, harmless calls may start while the reply still streams. */
  readonly watchTools: boolean;
  input(input: Input, signal: AbortSignal): Promise<AtInput>;
  beforeTool(call: CallFacts, signal: AbortSignal): Promise<BeforeTool>;
  afterTool(
    call: CallFacts & { failed: boolean; content: ResultPart[]; ms: number },
    signal: AbortSignal,
  ): Promise<AfterTool>;
  stop(facts: { objections: number; lastText: string }, signal: AbortSignal): Promise<AtStop>;
  compact(
    facts: { trigger: string; instructions?: string | undefined },
    signal: AbortSignal,
  ): Promise<{ instructions?: string | undefined }>;
}

export const noHooks: Hooks = {
  watchTools: false,
  input: async () => ({ context: [] }),
  beforeTool: async () => ({ context: [] }),
  afterTool: async () => ({ context: [] }),
  stop: async () => ({}),
  compact: async () => ({}),
};
