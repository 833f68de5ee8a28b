/** How many agents there may be, how deep, and from when on a person is asked first. Pure. */

export type AgentLimits = {
  /** Agents may start agents this far below the session of the host. */
  readonly maxDepth: number;
  /** Agents that run at once, over the whole tree. */
  readonly maxAtOnce: number;
  /** Agents that one turn starts without a question. */
  readonly maxUnasked: number;
};

export const defaultAgentLimits: AgentLimits = {
  // Deeper ones have lost sight of what was asked.
  maxDepth: 3,
  // More than a provider answers at once; each is a conversation in memory.
  maxAtOnce: 32,
  // A handful of searches is ordinary; more is a bill that a person should know of.
  maxUnasked: 8,
};

export type AgentCounts = {
  /** Of the agent that would be started. */
  readonly depth: number;
  /** How many run in the tree now. */
  readonly running: number;
  /** How many this turn has started before. */
  readonly inTurn: number;
  /** How many a person has agreed to in this turn. */
  readonly agreed: number;
};

export type MayStart =
  | { readonly kind: "yes" }
  | { readonly kind: "no"; readonly why: string }
  | { readonly kind: "ask"; readonly upTo: number };

export function mayStart({ depth, running, inTurn, agreed }: AgentCounts, limits: AgentLimits): MayStart {
  if (depth > limits.maxDepth)
    return {
      kind: "no",
      why: `Agents may not start agents this deep (${limits.maxDepth}). Do it yourself.`,
    };
  if (running >= limits.maxAtOnce)
    return {
      kind: "no",
      why: `${limits.maxAtOnce} agents run already, which is the most. Wait for one to end.`,
    };
  const most = Math.max(limits.maxUnasked, agreed);
  return inTurn < most ? { kind: "yes" } : { kind: "ask", upTo: most * 2 };
}
