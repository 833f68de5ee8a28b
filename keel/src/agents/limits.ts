/** How many agents there may be, how deep, and from when on a person is asked first. */
import type { AgentCallContext } from "../ports/agents.ts";

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

/** Who of one session may start another agent now: within the limits at once, beyond what is usual after a question. */
export class Admission {
  readonly #limits: AgentLimits;
  #turn = { id: "", started: 0, agreed: 0 };
  #consent: Promise<boolean> | undefined;

  constructor(limits: AgentLimits) {
    this.#limits = limits;
  }

  /** Undefined when it may start, otherwise why not. Counts those that may. */
  async enter(
    request: { turn: string; depth: number; running: () => number; description: string },
    context: AgentCallContext,
  ): Promise<string | undefined> {
    const { maxDepth, maxAtOnce, maxUnasked } = this.#limits;
    if (request.depth > maxDepth)
      return `Agents may not start agents this deep (${maxDepth}). Do it yourself.`;
    if (this.#turn.id !== request.turn) this.#turn = { id: request.turn, started: 0, agreed: 0 };
    for (;;) {
      if (request.running() >= maxAtOnce)
        return `${maxAtOnce} agents run already, which is the most. Wait for one to end.`;
      const { started: inTurn, agreed } = this.#turn;
      const most = Math.max(maxUnasked, agreed);
      if (inTurn < most) {
        this.#turn.started++;
        return undefined;
      }
      const { description } = request;
      // One question for all that wait.
      this.#consent ??= this.#ask(context, { description, inTurn, upTo: most * 2 }).finally(() => {
        this.#consent = undefined;
      });
      if (!(await this.#consent)) return "Not started: so many agents in one turn were not agreed to.";
    }
  }

  async #ask(
    context: AgentCallContext,
    { description, inTurn, upTo }: { description: string; inTurn: number; upTo: number },
  ): Promise<boolean> {
    const { verdict } = await context.ask({
      kind: "permission",
      title: `Start more than ${inTurn} agents in one turn?`,
      body: { kind: "text", text: `This turn has started ${inTurn} agents. The next one: ${description}` },
      reason: "each agent is a conversation of its own, with its own cost",
      options: [
        { id: "once", label: `Yes, up to ${upTo} in this turn`, verdict: "allow" },
        { id: "no", label: "No", verdict: "deny" },
      ],
    });
    if (verdict === "allow") this.#turn.agreed = upTo;
    return verdict === "allow";
  }
}
