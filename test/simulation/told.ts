/** What a listener hears: every durable event once, in order, and only when it is on disk; no progress after an end. */
import type { Envelope } from "../../keel/src/protocol/event.ts";
import { isDurable } from "../../keel/src/protocol/event.ts";
import type { Disk } from "./disk.ts";

export class Told {
  readonly complaints: string[] = [];
  readonly #disk: Disk;
  #seq: number | undefined;
  #finished = new Set<string>();

  constructor(disk: Disk) {
    this.#disk = disk;
  }

  /** A new process: what it told before it listened is not heard. */
  begin(): void {
    this.#seq = undefined;
    this.#finished = new Set();
  }

  hear(envelope: Envelope): void {
    if (envelope.type === "tool.progress" && this.#finished.has(envelope.callId))
      this.complaints.push(`progress of call ${envelope.callId} was told after its end`);
    if (!isDurable(envelope)) return;
    const { seq, type } = envelope;
    if (this.#seq !== undefined && seq !== this.#seq + 1)
      this.complaints.push(`event ${seq} was told after ${this.#seq}`);
    this.#seq = seq;
    if (this.#disk.lines.length < seq)
      this.complaints.push(`event ${seq} (${type}) was told before it was on disk`);
    if (type === "tool.finished") this.#finished.add(envelope.callId);
  }
}
