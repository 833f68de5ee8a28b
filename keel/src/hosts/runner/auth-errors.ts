/** Failures of the key, recognised by class; where a provider says it only in words, by these. */
import type { FaultData } from "../../kernel/fault.ts";

const codes: readonly string[] = ["key_missing", "key_refused", "no_model"];
const phrases =
  /authentication[_ ]error|invalid[_ ]?(?:x-)?api[_ -]?key|oauth token has expired|token (?:has )?expired|401 unauthorized|unauthorized|not logged in|credit balance is too low/i;

/** A sentence for the person, or undefined where it is something else. */
export function authError({ code, message }: Pick<FaultData, "code" | "message">): string | undefined {
  if (code === "key_missing" || code === "no_model")
    return "There is no key for the model. Set one in the environment, or with `keel auth set`.";
  if (codes.includes(code) || phrases.test(message.slice(0, 2_000)))
    return "The provider did not accept the key. Check that it is right and has not expired.";
  return undefined;
}
