/** How many agents there may be, how deep, and from when on a person is asked first. Pure. */

export type AgentLimits = {
  /** Agents may start agents this far below the session of the host. */
  readonly mostDepth: number;
  /** Agents that run at once, over the whole tree. */
  readonly mostAtOnce: number;
  /** Agents that one turn starts without a question. */
  readonly mostUnasked: number;
};

export const defaultAgentLimits: AgentLimits = {
  // Deeper ones have lost sight of what was asked.
  mostDepth: 3,
  // More than a provider answers at once; each is a conversation in memory.
  mostAtOnce: 32,
  // A handful of searches is ordinary; more is a bill that a person should know of.
  mostUnasked: 8,
};

export type Crowd = {
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

export function mayStart({ depth, running, inTurn, agreed }: Crowd, limits: AgentLimits): MayStart {
  if (depth > limits.mostDepth)
    return {
      kind: "no",
      why: `Agents may not start agents this deep (${limits.mostDepth}). Do it yourself.`,
    };
  if (running >= limits.mostAtOnce)
    return {
      kind: "no",
      why: `${limits.mostAtOnce} agents run already, which is the most. Wait for one to end.`,
    };
  const most = Math.max(limits.mostUnasked, agreed);
  return inTurn < most ? { kind: "yes" } : { kind: "ask", upTo: most * 2 };
}
