/** What is tried again, and how long to wait before it: doubling, bounded, with jitter that the caller draws. */
import type { FaultCode } from "./faults.ts";

export type Backoff = { readonly firstMs: number; readonly maxMs: number };

/** `tries` failures so far (1 or more); `draw` is a number in [0, 1) that spreads clients by up to a quarter. */
export function delayMs({ firstMs, maxMs }: Backoff, tries: number, draw: number): number {
  const doubled = Math.min(maxMs, firstMs * 2 ** Math.max(0, tries - 1));
  return Math.round(doubled * (1 + draw / 4));
}

/** Which faults of a model request may be tried again, and how often. Everything else ends the turn. */
const tries: Partial<Record<FaultCode, "often" | "seldom">> = {
  rate_limited: "often",
  overloaded: "often",
  server_error: "often",
  unreachable: "often",
  // Each of these may already have cost a whole reply.
  stream_stalled: "seldom",
  stream_cut: "seldom",
  stream_malformed: "seldom",
  request_lost: "seldom",
};

export const retryKind = (code: FaultCode): "often" | "seldom" | "never" => tries[code] ?? "never";
export const isRetryable = (code: FaultCode): boolean => retryKind(code) !== "never";

/** Doubling from the first to the cap, until it was tried in vain for so long. */
export type PatientBackoff = Backoff & { readonly giveUpMs: number };

/** What waits, and by which clock: a session's, or one that a test moves. */
export type RetryPorts = {
  readonly clock: { monotonicMs(): number; sleep(ms: number, signal: AbortSignal): Promise<void> };
  /** A number in [0, 1). */
  draw(): number;
};

/**
 * Tries that fail again and again, with pauses that grow. A pause is never longer than its doubled time and up to a
 * quarter shorter, so that many do not come at once. A machine that slept in between begins anew: nobody tried then.
 */
export class PatientRetry {
  readonly #backoff: PatientBackoff;
  readonly #ports: RetryPorts;
  #failures = 0;
  #since = 0;
  #lastAt = 0;

  constructor(backoff: PatientBackoff, ports: RetryPorts) {
    this.#backoff = backoff;
    this.#ports = ports;
  }

  succeeded(): void {
    this.#failures = 0;
  }

  /** Waits before the next try; `given-up` when that would be too late, at once. */
  async failed(signal: AbortSignal): Promise<"again" | "given-up"> {
    const { firstMs, maxMs, giveUpMs } = this.#backoff;
    const { clock, draw } = this.#ports;
    const now = clock.monotonicMs();
    if (this.#failures > 0 && now - this.#lastAt > 2 * maxMs) this.#failures = 0;
    if (this.#failures === 0) this.#since = now;
    this.#failures += 1;
    const doubled = Math.min(maxMs, firstMs * 2 ** (this.#failures - 1));
    if (now - this.#since >= giveUpMs) return "given-up";
    await clock.sleep(Math.round(doubled * (1 - draw() / 4)), signal);
    this.#lastAt = clock.monotonicMs();
    return "again";
  }
}

/** For a connection that cannot be had, and for all else that fails between a bridge or an editor and us. */
export const bridgeBackoff = {
  connection: { firstMs: 2_000, maxMs: 120_000, giveUpMs: 600_000 },
  general: { firstMs: 500, maxMs: 30_000, giveUpMs: 600_000 },
} as const satisfies Record<string, PatientBackoff>;
