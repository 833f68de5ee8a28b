/** Sums of a request of the simulated machine, as an adapter makes them of its bytes: of the whole, and of its parts. */
import { createHash } from "node:crypto";
import type { ModelRequest } from "../../keel/src/ports/model.ts";
import type { BytesSum, RequestSums } from "../../keel/src/protocol/usage.ts";

export function simulatedSums(request: ModelRequest): RequestSums {
  const { tools, system, messages } = request;
  return {
    body: sumOf(request),
    ...(tools.length > 0 ? { tools: sumOf(tools) } : {}),
    ...(system.length > 0 ? { system: sumOf(system) } : {}),
    prefixes: [{ ...sumOf(messages), messages: messages.length }],
  };
}

function sumOf(value: unknown): BytesSum {
  const text = JSON.stringify(value);
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 32);
  return { digest, bytes: Buffer.byteLength(text) };
}
