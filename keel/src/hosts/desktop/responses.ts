/** What a desktop shell reads, one JSON object a line. `keel desktop --schema` prints the form of each. */
import * as z from "zod/mini";
import { errorCodes, linesSchema } from "../../app/lines/read-line.ts";
import type { JsonObject } from "../../kernel/json.ts";
import { jsonSchema } from "../../protocol/message.ts";
import { requestSchemas } from "./requests.ts";

export const protocolVersion = 1;

const text = z.string();
const number = z.number();
const maybe = z.optional;

/** Work of a conversation: of the request that began it, or of none where a task in the background did. */
const work = { id: maybe(text), conversation_id: text };

const askOption = z.object({
  id: text,
  label: text,
  verdict: z.enum(["allow", "deny"]),
  rule: maybe(text),
  preview: maybe(text),
});

export const responseFields = {
  ready: { protocol: number, version: text, capabilities: z.array(text) },
  token: { ...work, token: text },
  /** The tokens of the reply that was being written do not count: it failed and is asked for again. */
  withdrawn: work,
  tool_use: {
    ...work,
    data: z.object({ toolId: text, toolName: text, input: jsonSchema, agentId: maybe(text) }),
  },
  tool_result: {
    ...work,
    data: z.object({
      toolId: text,
      toolName: text,
      result: text,
      failed: z.boolean(),
      denied: maybe(z.boolean()),
      agentId: maybe(text),
    }),
  },
  /** Somebody has to decide: answered by `answer_ask`. */
  ask: {
    ...work,
    data: z.object({
      askId: text,
      askKind: z.enum(["permission", "question", "plan", "hook", "host-tool", "elicitation"]),
      title: text,
      options: z.array(askOption),
      toolId: maybe(text),
      toolName: maybe(text),
      input: maybe(jsonSchema),
      reason: maybe(text),
      schema: maybe(jsonSchema),
      agentId: maybe(text),
    }),
  },
  ask_closed: { ...work, data: z.object({ askId: text, approved: z.boolean(), by: text }) },
  /** What a person should know beside the conversation: that a sum was passed, or a budget is nearly used up. */
  notice: { ...work, data: z.object({ code: text, level: z.enum(["info", "warning"]), text }) },
  done: { id: text, data: maybe(z.record(text, jsonSchema)) },
  error: {
    id: maybe(text),
    error: text,
    code: z.enum([...errorCodes, "timeout"]),
    /** The fault behind it, by its code in the reference. */
    fault: maybe(text),
    conversation_id: maybe(text),
  },
} as const;

export type ResponseType = keyof typeof responseFields;
export type DesktopResponse = {
  [T in ResponseType]: { type: T } & z.infer<z.ZodMiniObject<(typeof responseFields)[T]>>;
}[ResponseType];
export type ResponseOf<T extends ResponseType> = Extract<DesktopResponse, { type: T }>;

export const responseSchemas: ReadonlyMap<string, z.ZodMiniType> = new Map(
  Object.entries(responseFields).map(([type, fields]) => [
    type,
    // `timestamp`: milliseconds since 1970.
    z.strictObject({ type: z.literal(type), ...fields, timestamp: z.int() }),
  ]),
);

/** `keel desktop --schema`: the JSON Schema of every request and response. */
export const desktopSchema = (): JsonObject =>
  linesSchema("Lines of keel desktop", {
    requests: Object.entries(requestSchemas),
    responses: responseSchemas,
  });
