/**
 * Tells an SDK whether its session works, waits for a person, or is idle. An SDK with callbacks keeps its end of the wire
 * open until it hears `idle`: whatever happens, it must hear it.
 */
import type { OpenSession } from "../../app/open-session.ts";
import { uuidFrom } from "../../kernel/uuid.ts";
import type { Envelope } from "../../protocol/event/envelope.ts";
import type { SDKSessionStateChangedMessage } from "../../sdk/messages/system.ts";

type ReportedState = SDKSessionStateChangedMessage["state"];
/** Meant for the SDK alone, which does not pass it on. */
export type StateMessage = SDKSessionStateChangedMessage & { sdk_host_only: true };

const endings: ReadonlySet<string> = new Set<Envelope["type"]>([
  "turn.finished",
  "input.dropped",
  "context.cleared",
  "model.failed",
  "session.closed",
]);

/** What makes work: after it another end is told. */
const beginnings: ReadonlySet<string> = new Set<Envelope["type"]>(["input.accepted", "compaction.requested"]);

type WatchedSession = Pick<OpenSession, "id" | "hasWork" | "onEvent" | "idle">;

export class WireState {
  readonly #say: (message: StateMessage) => void;
  #session: WatchedSession | undefined;
  #state: ReportedState = "idle";
  #questions = 0;
  #said = 0;
  #begun = 0;
  #inTurn = false;

  constructor(say: (message: StateMessage) => void) {
    this.#say = say;
  }

  /** After whoever tells its messages: `idle` comes behind the result. */
  watch(session: WatchedSession): void {
    // A conversation that was cleared goes on in another session.
    this.#session = session;
    session.onEvent((event) => {
      if (event.origin) return this.#look("goes on");
      if (beginnings.has(event.type)) this.#begun += 1;
      if (event.type === "turn.started" || event.type === "turn.finished")
        this.#inTurn = event.type === "turn.started";
      if (event.type === "context.compacted" && event.trigger === "manual" && !this.#inTurn)
        void this.#lookBehind(session);
      this.#look(endings.has(event.type) ? "may have ended" : "goes on");
    });
    this.#look("goes on");
  }

  readonly questions = {
    asked: (): void => {
      this.#questions += 1;
      this.#look("goes on");
    },
    answered: (): void => {
      this.#questions -= 1;
      this.#look("goes on");
    },
  };

  /** Something was answered without a turn: who waits for `idle` may have missed the one before it. */
  again(): void {
    if (this.#state === "idle") this.#tell("idle");
  }

  /** Hooks hear of a compaction after its result: who was told `idle` by then has closed its end, and answers no more. */
  async #lookBehind(session: WatchedSession): Promise<void> {
    const begun = this.#begun;
    await session.idle().catch(() => undefined);
    if (this.#session === session && this.#begun === begun) this.#look("may have ended");
  }

  /** The session itself is ahead of what was told of it: only the message of an end makes it idle for the other side. */
  #look(told: "may have ended" | "goes on"): void {
    if (!this.#session) return;
    const works = this.#session.hasWork();
    if (!works && told === "goes on") return;
    const state = !works ? "idle" : this.#questions > 0 ? "requires_action" : "running";
    if (state !== this.#state) this.#tell(state);
  }

  #tell(state: ReportedState): void {
    const { id = "" } = this.#session ?? {};
    this.#state = state;
    this.#said += 1;
    this.#say({
      type: "system",
      subtype: "session_state_changed",
      state,
      sdk_host_only: true,
      uuid: uuidFrom(`${id}/state/${this.#said}`),
      session_id: id,
    });
  }
}
