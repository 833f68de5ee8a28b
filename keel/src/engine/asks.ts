/** Questions to the host: opened, joined, answered once. What is open stands in the log; who waits, here. */

import type { Limits } from "../core/limits.ts";
import type { SessionState } from "../core/state/state.ts";
import { LightStop } from "../kernel/abort.ts";
import { answersAsk } from "../policy/changes.ts";
import type { Above } from "../ports/agents.ts";
import type { Clock } from "../ports/clock.ts";
import type { Ask } from "../protocol/ask.ts";
import type { Command, Receipt } from "../protocol/command.ts";
import type { DurableEvent } from "../protocol/event/durable.ts";
import type { Closed } from "./step-context.ts";

export type AskContext = {
  readonly clock: Clock;
  readonly limits: Limits;
  readonly above?: Above | undefined;
  state(): SessionState;
  record(event: DurableEvent): void;
  saved(): Promise<void>;
};

export class Asks {
  readonly #world: AskContext;
  readonly #waiting = new Map<string, Set<(closed: Closed) => void>>();

  constructor(context: AskContext) {
    this.#world = context;
  }

  /** Opens it, or joins one that is open or closed already under the same id. */
  async open(ask: Ask): Promise<Closed> {
    const { clock, limits, state, record, saved, above } = this.#world;
    const known = state().answers.get(ask.id);
    if (known) return known;
    const answered = this.#wait(ask.id);
    if (state().asks.every(({ id }) => id !== ask.id))
      record({ type: "ask.opened", ask: above ? { ...ask, origin: above.origin } : ask });
    await saved();
    const settled = new LightStop();
    const late = clock
      .sleep(limits.askMs, settled)
      .then(
        (): Closed => ({ answer: { verdict: "deny", reason: "Nobody answered in time." }, by: "timeout" }),
      );
    try {
      const closed = await Promise.race([answered, late]);
      if (closed.by === "timeout") this.close(ask.id, closed);
      return closed;
    } finally {
      settled.fire();
    }
  }

  async answer(askId: string, closed: Closed): Promise<Receipt> {
    const { state, saved } = this.#world;
    if (state().asks.every(({ id }) => id !== askId)) {
      const before = state().answers.get(askId);
      if (!before) return { type: "late", askId, why: "unknown" };
      const { answer: _, ...closer } = before;
      return { type: "late", askId, why: "closed", ...closer };
    }
    this.close(askId, closed);
    await saved();
    return { type: "answered", askId };
  }

  close(askId: string, closed: Closed): void {
    const { state, record } = this.#world;
    const known = state().learnt.allow.length;
    record({ type: "ask.closed", askId, ...closed });
    this.#settle(askId, closed);
    // A remembered answer also settles the open asks that it covers.
    for (const rule of state().learnt.allow.slice(known)) {
      for (const ask of state().asks.filter((open) => answersAsk(rule, open)))
        this.close(ask.id, { answer: { verdict: "allow" }, by: "rule" });
    }
  }

  closeAll(closed: Closed): void {
    for (const { id } of this.#world.state().asks) this.close(id, closed);
  }

  /** Lets everybody go, without a trace in the log: the questions stay open there. */
  release(closed: Closed): void {
    for (const askId of [...this.#waiting.keys()]) this.#settle(askId, closed);
  }

  #wait(askId: string): Promise<Closed> {
    return new Promise((resolve) => {
      const waiters = this.#waiting.get(askId) ?? new Set();
      this.#waiting.set(askId, waiters.add(resolve));
    });
  }

  #settle(askId: string, closed: Closed): void {
    for (const resolve of this.#waiting.get(askId) ?? []) resolve(closed);
    this.#waiting.delete(askId);
  }
}

export const closedBy = ({ answer, by = "host", who }: Extract<Command, { type: "answer" }>): Closed => ({
  answer,
  by,
  ...(who === undefined ? {} : { who }),
});

/** How questions are closed that nobody answers any more. */
export const interruptedAnswer: Closed = {
  answer: { verdict: "deny", reason: "Interrupted." },
  by: "interrupt",
};
export const notWritten: Closed = {
  answer: { verdict: "deny", reason: "The log cannot be written." },
  by: "shutdown",
};
