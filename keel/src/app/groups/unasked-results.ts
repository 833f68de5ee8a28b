/**
 * What the agent of a group says without having been asked by its people: when an agent or a command in the background
 * has ended, and it goes on by itself. Every result of its session is for the group, not only the first.
 */
import type { DurableEvent } from "../../protocol/event/durable.ts";
import { type EventHandlers, handle, isDurable } from "../../protocol/event/envelope.ts";
import { lastTextOf } from "../../protocol/message.ts";
import { endsWell } from "../../protocol/reasons.ts";
import type { OpenSession } from "../open-session.ts";

export type UnaskedResult = { readonly id: string; readonly text: string };

const prefix = "turn-";
export const isUnaskedResult = (id: string): boolean => /^turn-[\w-]{1,64}$/.test(id);

/** A result that a crash has kept from the group is among these of its log. */
const lookedBack = 400;

/** Until it is closed: what is said again has the same id. Throws nothing. */
export function tellUnaskedResults(
  session: Pick<OpenSession, "onEvent" | "history" | "lastSeq">,
  told: (result: UnaskedResult) => void,
): () => void {
  const live = new UnaskedTurns(told);
  const stop = session.onEvent((event) => {
    if (event.origin === undefined && isDurable(event)) live.hear(event);
  });
  void (async () => {
    const past = new UnaskedTurns(told);
    for await (const event of session.history(Math.max(0, session.lastSeq() - lookedBack))) past.hear(event);
  })().catch(() => undefined);
  return stop;
}

/** Turns that nothing but its own work began. */
class UnaskedTurns {
  readonly #told: (result: UnaskedResult) => void;
  /** Inputs that came of its own work. */
  readonly #own = new Set<string>();
  #turn = "";
  #last = "";

  constructor(told: (result: UnaskedResult) => void) {
    this.#told = told;
  }

  hear(event: DurableEvent): void {
    handle(this.#heard, event);
  }

  readonly #heard: EventHandlers<DurableEvent, [], void> = {
    "input.accepted": ({ input }) => {
      if (input.from.kind === "task" || input.from.kind === "agent") this.#own.add(input.id);
    },
    "turn.started": ({ turnId }) => {
      this.#turn = turnId;
      this.#last = "";
    },
    "model.finished": ({ content }) => {
      this.#last = lastTextOf(content) || this.#last;
    },
    "turn.finished": ({ inputIds, reason }) => {
      const isOwn = inputIds.length > 0 && inputIds.every((id) => this.#own.has(id));
      for (const id of inputIds) this.#own.delete(id);
      if (isOwn && this.#turn !== "" && this.#last !== "" && endsWell(reason))
        this.#told({ id: `${prefix}${this.#turn}`, text: this.#last });
    },
  };
}
