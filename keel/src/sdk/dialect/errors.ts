/** Faults of a model request in the error classes of the SDK. */
import type { FaultData } from "../../kernel/fault.ts";
import type { FaultCode } from "../../kernel/faults.ts";
import type { SDKAssistantMessageError } from "../messages/content.ts";

export const errorClass = ({ code }: FaultData): SDKAssistantMessageError => classes[code] ?? "unknown";

/** The HTTP status that the provider gave, if it gave one. */
export function statusOf({ detail }: FaultData): number | null {
  const status = detail?.["status"];
  return typeof status === "number" ? status : null;
}

const classes: Partial<Record<FaultCode, SDKAssistantMessageError>> = {
  key_missing: "authentication_failed",
  key_refused: "authentication_failed",
  model_forbidden: "authentication_failed",
  billing: "billing_error",
  model_unknown: "model_not_found",
  model_bad_request: "invalid_request",
  prompt_too_long: "invalid_request",
  request_too_large: "invalid_request",
  rate_limited: "rate_limit",
  overloaded: "overloaded",
  server_error: "server_error",
};
