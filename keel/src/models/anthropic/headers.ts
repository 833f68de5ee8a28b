/** What every request to this wire says about itself. */
import type { Endpoint } from "../providers.ts";

const wireVersion = "2023-06-01";

export function headersFor({ credential }: Endpoint, betas: readonly string[]): Record<string, string> {
  return {
    "content-type": "application/json",
    accept: "text/event-stream, application/json",
    "anthropic-version": wireVersion,
    ...(betas.length > 0 ? { "anthropic-beta": betas.join(",") } : {}),
    ...(credential?.kind === "key" ? { "x-api-key": credential.value } : {}),
    ...(credential?.kind === "token" ? { authorization: `Bearer ${credential.value}` } : {}),
  };
}
