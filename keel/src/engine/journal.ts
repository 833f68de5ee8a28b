/**
 * The way from a recorded event to the disk. Events are written in order. A write starts when somebody waits for it, and
 * otherwise a moment after its first event; those that come meanwhile share it, so that a turn with a quick tool costs
 * one sync. Whoever is about to have an effect awaits `saved` first.
 */

import { LightStop } from "../kernel/abort.ts";
import { type Fault, fault, toFault } from "../kernel/fault.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log, Meanwhile } from "../ports/store.ts";
import type { Durable } from "../protocol/event/durable.ts";
import type { Envelope } from "../protocol/event/envelope.ts";

/** How long events wait for company while nobody waits for them: a quick tool is done by then, and nobody sees it. */
const lingerMs = 5;

type Write = {
  /** Fires when somebody waits. */
  readonly wanted: LightStop;
  meanwhile: Meanwhile | undefined;
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (fault: Fault) => void;
};

export type JournalPorts = {
  readonly log: Log;
  readonly clock: Clock;
  readonly onSaved: (event: Durable) => void;
};

export class Journal {
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #onSaved: (event: Durable) => void;
  #waiting: Durable[] = [];
  #next: Write | undefined;
  #writing: Promise<void> | undefined;
  #broken: Fault | undefined;
  #isLeft = false;

  constructor({ log, clock, onSaved }: JournalPorts) {
    this.#log = log;
    this.#clock = clock;
    this.#onSaved = onSaved;
  }

  /** A journal that takes nothing: the session must be loaded again from its log. */
  static broken(parts: Omit<JournalPorts, "onSaved">, fault: Fault): Journal {
    const journal = new Journal({ ...parts, onSaved: () => undefined });
    journal.#broken = fault;
    return journal;
  }

  /** One that takes nothing either, and lacks nothing: all that happened is on disk, and the session ends. */
  static left(parts: Omit<JournalPorts, "onSaved">): Journal {
    const journal = Journal.broken(parts, fault("session_closed"));
    journal.#isLeft = true;
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
  async saved(meanwhile?: Meanwhile): Promise<void> {
    if (this.#isLeft) return;
    if (this.#broken) throw this.#broken;
    if (this.#next && meanwhile) this.#next.meanwhile = meanwhile;
    this.#next?.wanted.fire();
    await (this.#next?.promise ?? this.#writing);
    if (this.#broken) throw this.#broken;
  }

  async #drain(): Promise<void> {
    while (this.#next) {
      const write = this.#next;
      // Also when somebody waits already: the step that is recording finishes first.
      await this.#clock.sleep(lingerMs, write.wanted);
      const events = this.#waiting;
      this.#next = undefined;
      this.#waiting = [];
      try {
        await this.#log.append(events, write.meanwhile);
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
  return { wanted: new LightStop(), meanwhile: undefined, promise, resolve, reject };
}

/** Who hears what happens in a session. Each is called in turn, at once, and must not throw. */
export type EnvelopeListener = (envelope: Envelope) => void;

/** More than all screens and programs of one session; a program that only ever adds has forgotten to leave. */
export const maxListeners = 1_000;

export class Listeners {
  readonly #all = new Set<EnvelopeListener>();

  /** Returns how to leave. Throws `queue_full`. */
  add(listener: EnvelopeListener): () => void {
    if (this.#all.size >= maxListeners) throw fault("queue_full", { limit: maxListeners });
    this.#all.add(listener);
    return () => this.#all.delete(listener);
  }

  tell(envelope: Envelope): void {
    for (const listener of this.#all) listener(envelope);
  }
}

/** Tells each text once. */
export function onceEach(tell: (text: string) => void): (text: string) => void {
  const told = new Set<string>();
  return (text) => {
    if (told.has(text)) return;
    told.add(text);
    tell(text);
  };
}
