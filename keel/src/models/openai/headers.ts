/** What every request to this wire says about itself. Both kinds of credential are bearer tokens here. */
import type { Endpoint } from "../providers.ts";

export function headersFor({ credential }: Endpoint): Record<string, string> {
  return {
    "content-type": "application/json",
    accept: "text/event-stream, application/json",
    ...(credential ? { authorization: `Bearer ${credential.value}` } : {}),
  };
}
