/**
 * Pieces of a reply, which come by the tens of thousands: those that follow each other are one to the screen, which looks
 * at them with the next frame, or before anything else that happens.
 */
import type { Envelope, EnvelopeOf } from "../../../protocol/event/envelope.ts";

type DeltaEvent = EnvelopeOf<"text.delta"> | EnvelopeOf<"thinking.delta">;

export class WaitingDeltas {
  #last: DeltaEvent | undefined;
  #texts: string[] = [];

  get isEmpty(): boolean {
    return this.#last === undefined;
  }

  /** False where it is no piece, or none of what waits: then that comes first. */
  add(event: Envelope): boolean {
    if (event.type !== "text.delta" && event.type !== "thinking.delta") return false;
    const last = this.#last;
    if (last && !isOfOne(last, event)) return false;
    this.#last = event;
    this.#texts.push(event.text);
    return true;
  }

  /** What waits, as one. */
  take(): Envelope | undefined {
    const last = this.#last;
    if (!last) return undefined;
    const whole = { ...last, text: this.#texts.join("") };
    this.#last = undefined;
    this.#texts = [];
    return whole;
  }
}

const isOfOne = (left: DeltaEvent, right: DeltaEvent): boolean =>
  left.type === right.type &&
  left.index === right.index &&
  left.requestId === right.requestId &&
  left.origin?.agentId === right.origin?.agentId;
