/** What is told of a session to followers at other workers and stands in no log: gathered for a moment, and small. */
import type { Clock } from "../../ports/clock.ts";
import type { PlacedEvent } from "./remote-session.ts";

/** As quickly as a person sees. */
const gatherMs = 40;
/** A notice of the database takes 8,000 bytes; what is larger is told by the durable event that follows. */
const maxBytes = 7_000;
const never = new AbortController().signal;

export class LiveEvents {
  readonly #send: (session: string, text: string) => void;
  readonly #clock: Pick<Clock, "sleep">;
  readonly #waiting = new Map<string, string[]>();
  #gathering: Promise<void> | undefined;

  constructor(send: (session: string, text: string) => void, clock: Pick<Clock, "sleep">) {
    this.#send = send;
    this.#clock = clock;
  }

  add(session: string, live: PlacedEvent): void {
    const text = JSON.stringify(live);
    if (Buffer.byteLength(text) > maxBytes) return;
    const waiting = this.#waiting.get(session) ?? [];
    waiting.push(text);
    this.#waiting.set(session, waiting);
    this.#gathering ??= this.#clock.sleep(gatherMs, never).then(() => this.flush());
  }

  /** What came before something that is told otherwise goes before it. */
  flush(session?: string): void {
    if (session === undefined) this.#gathering = undefined;
    const all = [...this.#waiting].filter(([id]) => session === undefined || id === session);
    for (const [id] of all) this.#waiting.delete(id);
    for (const [id, texts] of all) {
      let part: string[] = [];
      let bytes = 0;
      for (const text of texts) {
        const size = Buffer.byteLength(text) + 1;
        if (bytes + size > maxBytes) {
          this.#send(id, `[${part.join(",")}]`);
          part = [];
          bytes = 0;
        }
        part.push(text);
        bytes += size;
      }
      if (part.length > 0) this.#send(id, `[${part.join(",")}]`);
    }
  }
}
