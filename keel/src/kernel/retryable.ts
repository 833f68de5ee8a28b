/** Which faults of a model request may be tried again, and how often. Everything else ends the turn. */
import type { FaultCode } from "./faults.ts";

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
