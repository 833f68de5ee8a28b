/** What an adapter makes of a provider's errors: the scripted model stands for the provider and its adapter together. */
import { type Fault, fault } from "../kernel/fault.ts";
import type { ProviderFaultCode } from "../kernel/faults.ts";
import { never } from "../kernel/never.ts";
import type { ReplyFault } from "./script.ts";

/** The fault with which a broken reply ends; undefined for what an adapter puts right or passes over. */
export function faultOf(broken: ReplyFault, model: string): Fault | undefined {
  switch (broken.kind) {
    case "http":
      return httpFault(broken, model);
    case "cut":
      return broken.error
        ? fault(codeOfType(broken.error.type), { reason: broken.error.message, model })
        : fault("stream_cut", {});
    case "reset":
      return fault("unreachable", { reason: "the connection was reset" });
    case "malformed":
      return malformedFault(broken.how);
    // The engine's own deadline ends a stalled reply.
    case "stall":
      return undefined;
    default:
      return never(broken);
  }
}

function httpFault(broken: ReplyFault & { kind: "http" }, model: string): Fault {
  const { status, type, message, headers } = broken;
  const seconds = Number(headers?.["retry-after"]);
  return fault(codeOfStatus(status, type, message), {
    reason: message,
    status,
    model,
    ...(Number.isFinite(seconds) ? { retryAfterMs: seconds * 1000 } : {}),
  });
}

function malformedFault(how: (ReplyFault & { kind: "malformed" })["how"]): Fault | undefined {
  switch (how) {
    case "two-message-starts":
    case "delta-before-start":
    case "wrong-content-type":
    case "garbage":
      return fault("stream_malformed", { reason: how });
    case "gzip-cut":
      return fault("stream_cut", {});
    // A reader stops at the end of the message, and counts that make no sense are read as none.
    case "call-after-end":
    case "negative-usage":
    case "missing-usage":
      return undefined;
    default:
      return never(how);
  }
}

function codeOfStatus(status: number, type: string, message: string): ProviderFaultCode {
  if (status === 400) return /too long/i.test(message) ? "prompt_too_long" : "model_bad_request";
  if (status === 529) return "overloaded";
  const known = codes[type];
  if (known) return known;
  return status >= 500 ? "server_error" : "model_bad_request";
}

const codeOfType = (type: string): ProviderFaultCode => codes[type] ?? "server_error";

const codes: Readonly<Record<string, ProviderFaultCode>> = {
  invalid_request_error: "model_bad_request",
  authentication_error: "key_refused",
  billing_error: "billing",
  permission_error: "model_forbidden",
  not_found_error: "model_unknown",
  request_too_large: "request_too_large",
  rate_limit_error: "rate_limited",
  overloaded_error: "overloaded",
  api_error: "server_error",
  timeout_error: "server_error",
};
