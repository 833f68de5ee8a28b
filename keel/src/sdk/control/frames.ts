/**
 * The lines between an SDK and its executable, pure. Both sides send requests and answer them by id; beside them travel
 * messages. What is no frame is told apart from what is one of a kind that nobody here knows.
 */
import * as z from "zod/mini";
import { type Fault, fault } from "../../kernel/fault.ts";
import type { JsonObject } from "../../kernel/json.ts";
import { parseWith, sayIssues } from "../../kernel/schema.ts";
import { shorten } from "../../kernel/text.ts";
import type { UserMessage } from "../messages/read-content.ts";

export type ControlRequest = {
  type: "control_request";
  request_id: string;
  request: { subtype: string } & Record<string, unknown>;
};

export type ControlResponse = {
  type: "control_response";
  response:
    | {
        subtype: "success";
        request_id: string;
        response?: unknown;
        /** Behind an introduction: what was asked and is not answered yet, as it was sent. */
        pending_permission_requests?: ControlRequest[];
        pending_elicitation_requests?: ControlRequest[];
      }
    | { subtype: "error"; request_id: string; error: string; error_code?: string | undefined };
};

export type ControlCancel = { type: "control_cancel_request"; request_id: string };

export type ControlFrame = ControlRequest | ControlResponse | ControlCancel;

export type ReceivedFrame =
  | { readonly kind: "request"; readonly id: string; readonly request: ControlRequest["request"] }
  | { readonly kind: "response"; readonly response: ControlResponse["response"] }
  | { readonly kind: "cancel"; readonly id: string }
  | { readonly kind: "user"; readonly message: UserMessage }
  /** Anything else of a known form: whoever reads passes it on or over. */
  | { readonly kind: "other"; readonly type: string; readonly line: JsonObject }
  /** A request that can be answered, although it cannot be understood. */
  | { readonly kind: "refused"; readonly id: string; readonly fault: Fault }
  | { readonly kind: "bad"; readonly fault: Fault };

const id = z.string().check(z.minLength(1), z.maxLength(512));
const requestSchema = z.object({ request_id: id, request: z.looseObject({ subtype: z.string() }) });
const responseSchema = z.object({
  response: z.union([
    z.object({ subtype: z.literal("success"), request_id: id, response: z.optional(z.unknown()) }),
    z.object({
      subtype: z.literal("error"),
      request_id: id,
      error: z.string(),
      error_code: z.optional(z.string()),
    }),
  ]),
});
const cancelSchema = z.object({ request_id: id });

const userSchema = z.object({
  message: z.object({
    role: z.literal("user"),
    content: z.union([z.string(), z.array(z.unknown())]),
  }),
  parent_tool_use_id: z.optional(z.nullable(z.string())),
  priority: z.optional(z.enum(["now", "next", "later"])),
  shouldQuery: z.optional(z.boolean()),
  uuid: z.optional(z.string()),
  session_id: z.optional(z.string()),
  client_composed: z.optional(z.boolean()),
});

export function readFrame(line: JsonObject): ReceivedFrame {
  const { type } = line;
  switch (type) {
    case "control_request":
      return readRequest(line);
    case "control_response":
      return read(responseSchema, line, ({ response }) => ({ kind: "response", response }));
    case "control_cancel_request":
      return read(cancelSchema, line, ({ request_id }) => ({ kind: "cancel", id: request_id }));
    case "user":
      return read(userSchema, line, (user) => ({
        kind: "user",
        // What is absent is left out by the parser; only `undefined` as a value would tell them apart.
        message: { ...user, type } as UserMessage,
      }));
    default:
      if (typeof type !== "string")
        return { kind: "bad", fault: invalid("a message has a type, which is a text") };
      return { kind: "other", type, line };
  }
}

function readRequest(line: JsonObject): ReceivedFrame {
  const parsed = parseWith(requestSchema, line);
  if (parsed.ok) return { kind: "request", id: parsed.value.request_id, request: parsed.value.request };
  const found = id.safeParse(line["request_id"]);
  const told = invalid(`control_request: ${sayIssues(parsed.error)}`);
  return found.success ? { kind: "refused", id: found.data, fault: told } : { kind: "bad", fault: told };
}

function read<T>(
  schema: z.ZodMiniType<T>,
  line: JsonObject,
  frame: (value: T) => ReceivedFrame,
): ReceivedFrame {
  const parsed = parseWith(schema, line);
  return parsed.ok
    ? frame(parsed.value)
    : { kind: "bad", fault: invalid(`${line["type"]}: ${sayIssues(parsed.error)}`) };
}

const invalid = (reason: string): Fault =>
  fault("line_invalid", { kind: "field", reason: shorten(reason, 200) });
