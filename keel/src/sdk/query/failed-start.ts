/** A session that could not be opened, told as the interface tells it: one failed result and nothing before it. */

import { noUsage } from "../../protocol/usage.ts";
import { toUsage } from "../dialect/blocks.ts";
import { uuidFrom } from "../dialect/uuid.ts";
import type { SDKResultError } from "../messages/messages.ts";

export function failedStart({ message, sessionId }: { message: string; sessionId: string }): SDKResultError {
  return {
    type: "result",
    subtype: "error_during_execution",
    is_error: true,
    uuid: uuidFrom(`failed start of ${sessionId}`),
    session_id: sessionId,
    duration_ms: 0,
    duration_api_ms: 0,
    num_turns: 0,
    stop_reason: null,
    total_cost_usd: 0,
    usage: toUsage(noUsage),
    modelUsage: {},
    permission_denials: [],
    errors: [message],
  };
}
