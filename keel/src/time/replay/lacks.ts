/** What a log does not hold that a replay would need. It is said, and neither compared nor guessed. */

import type { SessionState } from "../../core/state/state.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import { type EventHandlers, handle } from "../../protocol/event/envelope.ts";

export class Lacks {
  readonly #counts = new Map<string, number>();

  hear(event: Durable, before: SessionState): void {
    handle(this.#handlers, event, before);
  }

  readonly #handlers: EventHandlers<Durable, [SessionState], void> = {
    "model.started": (event, before) => {
      if (!before.prompt) this.#add("a request has no prompt before it");
      if (!event.sums) this.#add("the request's fingerprint");
      if (!event.predicted) this.#add("what the request was expected to use");
    },
    "model.finished": (event) => {
      if (event.firstMs === undefined) this.#add("when the reply began");
    },
    "context.compacted": (event) => {
      if (event.restored) this.#add("the files that were read again after a compaction");
    },
    "tool.finished": (event) => {
      if (event.spilled)
        this.#add("the whole of an output that was too long; the log has what the model saw of it");
    },
    "context.added": (event) => {
      if (event.why === "servers")
        this.#add("what servers said about their use, apart from the words that were told");
    },
  };

  sentences(): string[] {
    return [...this.#counts].map(([what, count]) => (count === 1 ? what : `${what} (${count} times)`));
  }

  #add(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }
}
