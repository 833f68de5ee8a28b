/** Tells an editor what happens in a session, in the words of its version; and that it is at work, where nothing else does. */
import type { Clock } from "../../ports/clock.ts";
import type { Envelope } from "../../protocol/event/envelope.ts";
import { type AcpMemo, cutCalls, noMemo, type Telling, type Told, tellingsOf, withOwn } from "./dialect.ts";
import type { EditorWire } from "./wire.ts";
import type { Wording } from "./wording.ts";

export type TellerOptions = {
  readonly sessionId: string;
  readonly told: Told;
  readonly wire: EditorWire;
  readonly wording: Pick<Wording, "updates">;
  readonly clock: Pick<Clock, "sleep" | "now" | "monotonicMs">;
};

/** A thread that has not been told anything for so long while it works is told that it does. */
const maxSilenceMs = 8_000;

export class Teller {
  /** The turn that runs was cancelled, and answered as if it had ended: what it still does is known, and not told. */
  isMuted = false;
  readonly #given: TellerOptions;
  #memo: AcpMemo = noMemo;
  #lastSentMs = 0;
  #isPulsing = false;

  constructor(given: TellerOptions) {
    this.#given = given;
  }

  /** All is told anew. */
  forget(): void {
    this.#memo = noMemo;
  }

  /** The editor shows this input already. */
  own(inputId: string): void {
    this.#memo = withOwn(this.#memo, inputId);
  }

  /** Known, and told to nobody. */
  learn(event: Envelope): void {
    [, this.#memo] = tellingsOf(event, this.#memo, this.#given.told);
  }

  hear(event: Envelope): void {
    const [tellings, memo] = tellingsOf(event, this.#memo, this.#given.told);
    this.#memo = memo;
    if (!this.isMuted) this.tell(tellings);
  }

  /** Calls that have not ended are told as if they had. */
  cutCalls(): void {
    this.tell(cutCalls(this.#memo));
  }

  tell(tellings: readonly Telling[]): void {
    for (const telling of tellings)
      for (const update of this.#given.wording.updates(telling)) this.send(update);
  }

  send(update: object): void {
    const { wire, sessionId, clock } = this.#given;
    this.#lastSentMs = clock.monotonicMs();
    wire.notify("session/update", { sessionId, update });
  }

  /** From now on, as long as it is at work, nobody is left without a word for long. */
  async pulse(isAtWork: () => boolean): Promise<void> {
    const { clock, wire } = this.#given;
    this.#lastSentMs = clock.monotonicMs();
    if (this.#isPulsing) return;
    this.#isPulsing = true;
    const isWanted = (): boolean => isAtWork() && !wire.gone.aborted;
    while (isWanted()) {
      const silentMs = clock.monotonicMs() - this.#lastSentMs;
      await clock.sleep(Math.max(100, maxSilenceMs - silentMs), wire.gone);
      const isSilent = clock.monotonicMs() - this.#lastSentMs >= maxSilenceMs;
      if (isWanted() && isSilent && !this.isMuted) this.tell([{ kind: "pulse", at: clock.now() }]);
    }
    this.#isPulsing = false;
  }
}
