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
