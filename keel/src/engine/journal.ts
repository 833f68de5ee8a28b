/**
 * The way from a recorded event to the disk. Events are written in order; those that come while a write is under way
 * share the next one, so that a step costs one sync. Whoever is about to have an effect awaits `saved` first.
 */
import { type Fault, toFault } from "../kernel/fault.ts";
import type { Durable } from "../protocol/event.ts";
import type { Log } from "./ports.ts";

type Write = {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (fault: Fault) => void;
};

export class Journal {
  readonly #log: Log;
  readonly #onSaved: (event: Durable) => void;
  #waiting: Durable[] = [];
  #next: Write | undefined;
  #writing: Promise<void> | undefined;
  #broken: Fault | undefined;

  constructor(log: Log, onSaved: (event: Durable) => void) {
    this.#log = log;
    this.#onSaved = onSaved;
  }

  /** A journal that takes nothing: the session must be loaded again from its log. */
  static broken(log: Log, fault: Fault): Journal {
    const journal = new Journal(log, () => undefined);
    journal.#broken = fault;
    return journal;
  }

  /** Set once a write has failed: what was added since the last good write is not on disk and never will be. */
  get broken(): Fault | undefined {
    return this.#broken;
  }

  add(event: Durable): void {
    if (this.#broken) throw this.#broken;
    this.#waiting.push(event);
    this.#next ??= newWrite();
    this.#writing ??= this.#drain();
  }

  /** Resolves when everything added so far is on disk; throws `log_unwritable` when it cannot get there. */
  async saved(): Promise<void> {
    if (this.#broken) throw this.#broken;
    await (this.#next?.promise ?? this.#writing);
    if (this.#broken) throw this.#broken;
  }

  async #drain(): Promise<void> {
    // Let the step that is recording finish first, so that its events share one write.
    await Promise.resolve();
    while (this.#next) {
      const write = this.#next;
      const events = this.#waiting;
      this.#next = undefined;
      this.#waiting = [];
      try {
        await this.#log.append(events);
      } catch (thrown) {
        this.#fail(toFault(thrown), write);
        break;
      }
      for (const event of events) this.#onSaved(event);
      write.resolve();
    }
    this.#writing = undefined;
  }

  #fail(fault: Fault, write: Write): void {
    this.#broken = fault;
    this.#waiting = [];
    write.reject(fault);
    this.#next?.reject(fault);
    this.#next = undefined;
  }
}

function newWrite(): Write {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // Somebody may record without waiting; `saved` still tells whoever asks.
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}
