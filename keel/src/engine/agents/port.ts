/** Other agents as tools see them: who can be given work, giving it, and telling one of them something. */
import type { Json } from "../../kernel/json.ts";
import type { ResultPart } from "../../protocol/message.ts";
import type { Display } from "../../protocol/tool.ts";

export type AgentOrder = {
  /** The call that gives the work: the agent's session names it as its parent. */
  readonly callId: string;
  readonly kind: string;
  readonly description: string;
  readonly prompt: string;
  readonly model: string | undefined;
  readonly effort: string | undefined;
  readonly name: string | undefined;
  readonly isolation: "worktree" | undefined;
  readonly when: "background" | "foreground";
};

export type AgentOutcome =
  | { readonly ok: true; readonly content: readonly ResultPart[]; readonly data: Json }
  | { readonly ok: false; readonly why: string };

export interface Agents {
  /** The kinds of agents that there are, and what each is for. */
  kinds(): readonly { readonly name: string; readonly description: string }[];
  /** Runs until the agent has ended, or until it runs on in the background. */
  start(order: AgentOrder, signal: AbortSignal): AsyncGenerator<Display, AgentOutcome>;
  /** Tells a running agent something, by its id or name. */
  send(
    message: { readonly to: string; readonly text: string },
    signal: AbortSignal,
  ): Promise<{ readonly ok: true } | { readonly ok: false; readonly why: string }>;
}
