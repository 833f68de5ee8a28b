/** What a server asks the person, and what the program answers in their place. */
import { reasonOf } from "../../kernel/fault.ts";
import { isJson, isObject } from "../../kernel/json.ts";
import type { Answer, Ask } from "../../protocol/ask.ts";

export type ElicitationRequest = {
  serverName: string;
  message: string;
  mode?: "form" | "url";
  url?: string;
  elicitationId?: string;
  /** JSON Schema of what is wanted. */
  requestedSchema?: Record<string, unknown>;
};

export type ElicitResult = {
  action: "accept" | "decline" | "cancel";
  content?: Record<string, unknown>;
};

/** Null: it was answered by another way. */
export type OnElicitation = (
  request: ElicitationRequest,
  options: { signal: AbortSignal; requestId?: string },
) => Promise<ElicitResult | null>;

/** Without a callback servers are told no; undefined: it is answered by another way. */
export async function askElicitation(
  callback: OnElicitation | undefined,
  ask: Ask,
  signal: AbortSignal,
): Promise<Answer | undefined> {
  if (!callback) return { verdict: "deny", reason: "Nobody is here to be asked." };
  try {
    const result = await callback(requestOf(ask), { signal, requestId: ask.id });
    if (result === null) return undefined;
    if (result.action !== "accept") return { verdict: "deny", reason: `The program said ${result.action}.` };
    return { verdict: "allow", ...(isJson(result.content) ? { data: result.content } : {}) };
  } catch (thrown) {
    const why = reasonOf(thrown);
    return { verdict: "deny", reason: `The elicitation callback failed: ${why}` };
  }
}

function requestOf({ input, schema }: Ask): ElicitationRequest {
  const { server, message, mode, url } = isObject(input) ? input : {};
  return {
    serverName: String(server ?? ""),
    message: String(message ?? ""),
    mode: mode === "url" ? "url" : "form",
    ...(typeof url === "string" ? { url } : {}),
    ...(schema ? { requestedSchema: schema } : {}),
  };
}
