/** The prompts of an editor that have no end yet: which turn is whose, and how each ended. */
import { type FaultData, toFault } from "../../kernel/fault.ts";
import { type Envelope, type EventHandlers, handle } from "../../protocol/event/envelope.ts";
import type { TurnReason } from "../../protocol/reasons.ts";

export type TurnEnd = { readonly reason: TurnReason; readonly fault?: FaultData | undefined };

export class Turns {
  readonly #waiting = new Map<string, PromiseWithResolvers<TurnEnd>>();
  /** Agents that work in the background: what they find begins turns of its own. */
  readonly #agents = new Set<string>();
  #quiet = Promise.withResolvers<void>();
  #begun = 0;
  #isRunning = false;

  /** The turn that has begun and not ended, by its number. */
  get running(): number | undefined {
    return this.#isRunning ? this.#begun : undefined;
  }

  /** Resolves when the turn of this input has ended, or the input was dropped. */
  endOf(inputId: string): Promise<TurnEnd> {
    const waiting = this.#waiting.get(inputId) ?? Promise.withResolvers<TurnEnd>();
    this.#waiting.set(inputId, waiting);
    return waiting.promise;
  }

  get agents(): readonly string[] {
    return [...this.#agents];
  }

  /** Resolves when no agent works in the background. */
  async withoutAgents(): Promise<void> {
    if (this.#agents.size > 0) await this.#quiet.promise;
  }

  hear(event: Envelope): void {
    if (!event.origin) handle(this.#handlers, event);
  }

  /** Nobody waits for its end any more. */
  forget(inputId: string): void {
    this.#waiting.delete(inputId);
  }

  /** The session is gone: nothing ends any more. */
  fail(thrown: unknown): void {
    const { code, message } = toFault(thrown);
    this.#isRunning = false;
    this.#endAll({ reason: "closed", fault: { code, message } });
    this.#agents.clear();
    this.#quiet.resolve();
  }

  readonly #handlers: EventHandlers<Envelope, [], void> = {
    "turn.started": () => {
      this.#begun += 1;
      this.#isRunning = true;
    },
    "turn.finished": ({ inputIds, reason, fault }) => {
      this.#isRunning = false;
      for (const id of inputIds) this.#settle(id, { reason, fault });
    },
    "input.dropped": ({ inputId, why }) =>
      this.#settle(inputId, { reason: why === "blocked" ? "prompt_blocked" : "interrupted" }),
    "session.closed": () => this.#endAll({ reason: "closed" }),
    "task.changed": ({ taskId, status, data }) => {
      if (status === "running" && data?.kind === "agent" && data.origin !== "waited") {
        if (this.#agents.size === 0) this.#quiet = Promise.withResolvers();
        this.#agents.add(taskId);
      } else if (status !== "running" && this.#agents.delete(taskId) && this.#agents.size === 0)
        this.#quiet.resolve();
    },
  };

  #endAll(end: TurnEnd): void {
    for (const id of [...this.#waiting.keys()]) this.#settle(id, end);
  }

  #settle(inputId: string, end: TurnEnd): void {
    this.#waiting.get(inputId)?.resolve(end);
    this.#waiting.delete(inputId);
  }
}
