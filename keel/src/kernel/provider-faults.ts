/** Faults that a provider refuses a request with: a part of the one table in `faults.ts`. */

/** What is known of a refusal. */
const ofProvider = ["status", "type", "requestId", "retryAfterMs", "reason"] as const;

const fallbackHint = "Try again later, or declare --fallback-model.";

type Exits = { readonly turnFailed: number; readonly keyRefused: number };

export function providerFaults(exits: Exits) {
  const refusal = <const Says extends string, const Hint extends string>(
    says: Says,
    hint: Hint,
    exit: number = exits.turnFailed,
  ) => ({ says, hint, exit, beside: ofProvider });
  return {
    key_refused: refusal(
      "The provider refused the key: {reason}",
      "Check the key and the base URL that it is meant for.",
      exits.keyRefused,
    ),
    model_forbidden: refusal(
      "The provider does not allow this: {reason}",
      "Check the rights of the key.",
      exits.keyRefused,
    ),
    billing: refusal(
      "The provider refused for billing reasons: {reason}",
      "Check the account's balance and plan.",
    ),
    model_unknown: refusal(
      "The provider does not know the model {model}.",
      "`keel models` lists what is known; --model picks one.",
    ),
    model_bad_request: refusal(
      "The provider refused the request: {reason}",
      "This is usually a defect; `keel sessions export` keeps the evidence.",
    ),
    prompt_too_long: refusal(
      "The conversation is too long for the model: {reason}",
      "Start anew, or compact earlier.",
    ),
    request_too_large: refusal(
      "The request is larger than the provider takes: {reason}",
      "Remove large attachments.",
    ),
    rate_limited: refusal(
      "The provider limits the rate: {reason}",
      "Wait a little, or ask for a higher limit.",
    ),
    overloaded: refusal("The provider is overloaded: {reason}", fallbackHint),
    server_error: refusal("The provider failed: {reason}", fallbackHint),
  };
}
