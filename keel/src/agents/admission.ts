/** Who of one session may start another agent now: within the limits at once, beyond what is usual after a question. */

import type { AgentCallContext } from "../ports/agents.ts";
import { type AgentLimits, mayStart } from "./limits.ts";

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
    if (this.#turn.id !== request.turn) this.#turn = { id: request.turn, started: 0, agreed: 0 };
    for (;;) {
      const { started: inTurn, agreed } = this.#turn;
      const may = mayStart(
        { depth: request.depth, running: request.running(), inTurn, agreed },
        this.#limits,
      );
      if (may.kind === "no") return may.why;
      if (may.kind === "yes") {
        this.#turn.started++;
        return undefined;
      }
      // One question for all that wait.
      this.#consent ??= this.#ask(context, {
        description: request.description,
        inTurn,
        upTo: may.upTo,
      }).finally(() => {
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
