/** One step that asks a model, performed by today's engine on recorded facts. */

import { fold } from "../../core/fold.ts";
import type { Step } from "../../core/next-step.ts";
import type { SessionState } from "../../core/state/state.ts";
import type { StepContext } from "../../engine/step-context.ts";
import { perform } from "../../engine/steps/perform.ts";
import { canonicalJson } from "../../kernel/json.ts";
import type { Durable, DurableEvent } from "../../protocol/event/durable.ts";
import { isOutside, isTold } from "./outside.ts";
import { portsOfLog, type ReplayWorld, type RequestOutcome } from "./ports-of-log.ts";

/** A state, and the event that came next. */
export type TrailPlace = { readonly index: number; readonly state: SessionState };

export type PlayedAttempt = {
  readonly isEqual: boolean;
  /** How far it went: the place of the first event that differs. */
  readonly at: number;
  /** What would be recorded there; undefined where nothing would. */
  readonly today: DurableEvent | undefined;
};

export type Recording = {
  readonly events: readonly Durable[];
  readonly place: TrailPlace;
  readonly cwd: string;
  readonly started: Extract<Durable, { type: "model.started" }>;
  readonly startedAt: number;
  readonly outcome: RequestOutcome | undefined;
  readonly outcomeAt: number | undefined;
  /** When what comes from outside is taken in: as soon as it can have come, or as late. */
  readonly outside: "at once" | "late";
  readonly world: ReplayWorld;
  isKnownCall(id: string): boolean;
};

export async function playStep(step: Step, recording: Recording): Promise<PlayedAttempt> {
  const { events, place, startedAt, outcomeAt } = recording;
  const played = new PlayedStep(recording);
  const told = events.slice(place.index, startedAt).filter(isTold);
  const { parts, stop } = portsOfLog(
    { ...recording, state: place.state, session: recording.started.session, told },
    recording.world,
    () => played.meanwhile(),
  );
  const work: StepContext = {
    parts,
    get state() {
      return played.state;
    },
    signal: stop.signal,
    early: new Map(),
    isKnownCall: recording.isKnownCall,
    record: (event) => played.record(event),
    saved: async () => undefined,
    show: () => undefined,
    warn: () => undefined,
    interrupt: () => undefined,
    ask: () => played.refuse(),
    answer: () => played.refuse(),
    tasks: { forCall: () => played.refuseNow(), announce: () => undefined, note: () => played.refuse() },
  };
  if (recording.outside === "at once") played.takeOutside();
  try {
    await perform(work, step);
  } catch (thrown) {
    if (thrown !== diverged) throw thrown;
  }
  return played.attempt(outcomeAt === undefined ? startedAt + 1 : startedAt);
}

/** Thrown out of a step that has left what was recorded. */
const diverged: unique symbol = Symbol("diverged");

class PlayedStep {
  readonly #recording: Recording;
  #cursor: number;
  #state: SessionState;
  #diverged: DurableEvent | undefined;
  /** The request has gone out and nothing is known of its outcome. */
  #isOver = false;

  constructor(recording: Recording) {
    this.#recording = recording;
    this.#cursor = recording.place.index;
    this.#state = recording.place.state;
  }

  get state(): SessionState {
    return this.#state;
  }

  record(event: DurableEvent): void {
    if (this.#isOver) return;
    this.takeOutside();
    const recorded = this.#recording.events[this.#cursor];
    if (this.#diverged || !recorded || !isSame(recorded, event)) {
      this.#diverged ??= event;
      throw diverged;
    }
    this.#take(recorded);
    if (this.#recording.outside === "at once") this.takeOutside();
  }

  /** What came from outside before the next event of the step. */
  takeOutside(): void {
    const { events, startedAt } = this.#recording;
    for (let next = events[this.#cursor]; next && this.#cursor < startedAt; next = events[this.#cursor]) {
      if (!isOutside(next)) return;
      this.#take(next);
    }
  }

  /** What happened while the reply was on its way. */
  meanwhile(): void {
    const { events, outcomeAt, outcome } = this.#recording;
    const isLost = outcome?.type === "model.failed" && outcome.fault.code === "request_lost";
    if (outcomeAt === undefined || isLost) {
      this.#isOver = true;
      return;
    }
    for (let next = events[this.#cursor]; next && this.#cursor < outcomeAt; next = events[this.#cursor])
      this.#take(next);
  }

  attempt(reached: number): PlayedAttempt {
    const isEqual = !this.#diverged && this.#cursor > reached;
    return { isEqual: isEqual || (this.#isOver && !this.#diverged), at: this.#cursor, today: this.#diverged };
  }

  refuse(): Promise<never> {
    return Promise.reject(diverged);
  }

  refuseNow(): never {
    throw diverged;
  }

  #take(event: Durable): void {
    this.#state = fold(this.#state, event);
    this.#cursor++;
  }
}

/** Fields that older versions did not write, and files that are only named, are not compared where they are not there. */
function isSame({ seq: _, at: __, session: ___, ...recorded }: Durable, today: DurableEvent): boolean {
  if (recorded.type !== today.type) return false;
  const unknown = [...laterFields.filter((name) => !(name in recorded)), ...givenFields(recorded)];
  const without = (event: object): object =>
    Object.fromEntries(Object.entries(event).filter(([name]) => !unknown.includes(name)));
  return canonicalJson(without(recorded)) === canonicalJson(without(today));
}

const laterFields: readonly string[] = ["predicted", "sums", "firstMs"];
const givenFields = (event: object): readonly string[] =>
  "restored" in event && event.restored !== undefined ? ["restored", "tokensAfter"] : [];
