/**
 * When frames are drawn: at most thirty in any second, changes of the session a step apart, and a key at once. A key that
 * comes between two steps is shown with all else as it stood: what happened meanwhile is the next step's.
 */
import type { ScreenState } from "./state.ts";

export type FrameCause = "key" | "change";

const mostInASecond = 30;
/** Without keys; what is left of the thirty is theirs. */
const stepMs = 55;

/** `drawn`: the last frames, the newest last. */
export function frameAt(drawn: readonly number[], now: number, cause: FrameCause): number {
  const last = drawn.at(-1) ?? Number.NEGATIVE_INFINITY;
  const within = drawn.filter((at) => at > now - 1_000);
  const first = within[within.length - mostInASecond];
  const free = first === undefined ? now : first + 1_000;
  return cause === "key" ? free : Math.max(free, last + stepMs, now);
}

/** Only the last second counts. */
export const withFrame = (drawn: readonly number[], at: number): number[] => [
  ...drawn.filter((one) => one > at - 1_000),
  at,
];

type Wanted = { readonly at: number; readonly timer: NodeJS.Timeout | undefined };

export class Frames {
  readonly #now: () => number;
  readonly #draw: (cause: FrameCause) => void;
  readonly #wanted = new Map<FrameCause, Wanted>();
  #drawn: readonly number[] = [];
  /** What the last step showed, and when. */
  #step: { readonly state: ScreenState; readonly at: number } | undefined;
  #isOver = false;

  constructor(now: () => number, draw: (cause: FrameCause) => void) {
    this.#now = now;
    this.#draw = draw;
  }

  want(cause: FrameCause): void {
    const now = this.#now();
    const at = frameAt(this.#drawn, now, cause);
    if (at >= (this.#wanted.get(cause)?.at ?? Number.POSITIVE_INFINITY)) return;
    this.#forget(cause);
    // A key is answered within this turn of the loop, after all that came with it.
    const timer = at <= now ? undefined : setTimeout(() => this.#soon(cause), at - now);
    this.#wanted.set(cause, { at, timer });
    if (!timer) this.#soon(cause);
  }

  /** A timer is called before a signal that has come: first the news of another size, then a frame for it. */
  #soon(cause: FrameCause): void {
    setImmediate(() => {
      if (!this.#isOver && this.#wanted.has(cause)) this.#draw(cause);
    });
  }

  /** Nothing but the input is another than in the last step, and the next step is still to come. */
  heldFor(state: ScreenState, cause: FrameCause): ScreenState | undefined {
    const step = this.#step;
    if (cause !== "key" || !step || this.#now() - step.at >= stepMs) return undefined;
    const { state: shown } = step;
    const isOther =
      state.phase !== "live" ||
      state.outbox.length > 0 ||
      state.size !== shown.size ||
      state.look !== shown.look ||
      state.session !== shown.session ||
      state.dialog !== null ||
      shown.dialog !== null ||
      state.panels.length + shown.panels.length > 0;
    if (isOther) return undefined;
    const { transcript, printing, activity, written, totals, now, turn } = shown;
    return { ...state, transcript, printing, activity, written, totals, now, turn };
  }

  /** A step is all that there is to be seen; a key that was still to be answered is answered with it. */
  drew(state: ScreenState, what: "step" | "key"): void {
    const at = this.#now();
    this.#drawn = withFrame(this.#drawn, at);
    this.#forget("key");
    if (what === "key") return;
    this.#forget("change");
    this.#step = { state, at };
  }

  /** The terminal lags: what is wanted is not drawn now. */
  later(cause: FrameCause): void {
    this.#forget(cause);
  }

  #forget(cause: FrameCause): void {
    clearTimeout(this.#wanted.get(cause)?.timer);
    this.#wanted.delete(cause);
  }

  stop(): void {
    this.#isOver = true;
    this.#forget("key");
    this.#forget("change");
  }
}
