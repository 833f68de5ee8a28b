/** What a listener hears: of each session every durable event once, in order, and only when it is on disk; no progress after an end. */
import { type Envelope, isDurable } from "../../keel/src/protocol/event/envelope.ts";
import type { Disks } from "./disk.ts";

export class Told {
  readonly complaints: string[] = [];
  readonly #disks: Disks;
  #seqs = new Map<string, number>();
  #finished = new Set<string>();

  constructor(disks: Disks) {
    this.#disks = disks;
  }

  /** A new process: what it told before it listened is not heard. */
  begin(): void {
    this.#seqs = new Map();
    this.#finished = new Set();
  }

  hear(envelope: Envelope): void {
    if (envelope.type === "tool.progress" && this.#finished.has(envelope.callId))
      this.complaints.push(`progress of call ${envelope.callId} was told after its end`);
    if (!isDurable(envelope)) return;
    const { seq, type, session } = envelope;
    const before = this.#seqs.get(session);
    if (before !== undefined && seq !== before + 1)
      this.complaints.push(`event ${seq} of ${session} was told after ${before}`);
    // An agent that goes on later is a new listener's to hear.
    if (type === "session.closed" && envelope.origin) this.#seqs.delete(session);
    else this.#seqs.set(session, seq);
    if ((this.#disks.get(session)?.lines.length ?? 0) < seq)
      this.complaints.push(`event ${seq} (${type}) of ${session} was told before it was on disk`);
    if (type === "tool.finished") this.#finished.add(envelope.callId);
  }
}
