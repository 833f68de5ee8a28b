/** What an executable asks of its SDK, and what it is answered: permission, hooks, and messages for the program's servers. */
import * as z from "zod/mini";
import type { Json } from "../../kernel/json.ts";
import { present } from "../../kernel/json.ts";
import { parseWith, sayIssues } from "../../kernel/schema.ts";
import type { HookInput } from "../../protocol/hook.ts";
import type { CanUseTool, ElicitResult, PermissionResult } from "../options/callbacks.ts";
import type { PermissionUpdate } from "../options/permission-updates.ts";
import { ControlError, readFields, unsupported } from "./channel.ts";
import type { ControlRequest } from "./frames.ts";

/** A message of JSON-RPC 2.0: a request, a notification or an answer. */
export type JsonRpc = {
  jsonrpc: "2.0";
  id?: string | number;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
  error?: { code: number; message: string };
};

type AskFacts = Parameters<CanUseTool>[2];

const record = z.record(z.string(), z.unknown());
const opt = z.optional;
/** An object whose members are the sender's own affair: what a hook is told, what a server is sent. */
const told = <T>(schema: z.ZodMiniType = record) => schema as z.ZodMiniType as z.ZodMiniType<T>;

const schemas = {
  can_use_tool: z.object({
    subtype: z.literal("can_use_tool"),
    tool_name: z.string(),
    display_name: opt(z.string()),
    input: record,
    tool_use_id: z.string(),
    title: opt(z.string()),
    description: opt(z.string()),
    permission_suggestions: opt(z.array(z.custom<PermissionUpdate>())),
    blocked_path: opt(z.string()),
    decision_reason: opt(z.string()),
    mcp_server: opt(told<{ name: string; source: string }>(z.looseObject({ name: z.string() }))),
    agent_id: opt(z.string()),
    default_to_no: opt(z.boolean()),
    suppress_always_allow_rule: opt(z.boolean()),
    matched_ask_rule: opt(
      told<NonNullable<AskFacts["matchedAskRule"]>>(z.looseObject({ toolName: z.string() })),
    ),
    decision_reason_type: opt(z.string()),
  }),
  hook_callback: z.object({
    subtype: z.literal("hook_callback"),
    callback_id: z.string(),
    input: told<HookInput>(),
    tool_use_id: opt(z.string()),
  }),
  mcp_message: z.object({
    subtype: z.literal("mcp_message"),
    server_name: z.string(),
    message: told<JsonRpc>(),
  }),
  /** A question of a server outside of the program, for the person. */
  elicitation: z.object({
    subtype: z.literal("elicitation"),
    mcp_server_name: z.string(),
    message: z.string(),
    mode: opt(z.enum(["form", "url"])),
    url: opt(z.string()),
    elicitation_id: opt(z.string()),
    requested_schema: opt(record),
  }),
} as const;

export type ProcessRequestOf<Subtype extends keyof typeof schemas> = z.infer<(typeof schemas)[Subtype]>;
type ProcessRequest = { [Subtype in keyof typeof schemas]: ProcessRequestOf<Subtype> }[keyof typeof schemas];

/** Throws `ControlError` for a subtype that nobody knows, and for fields that are wrong. */
export function readProcessRequest(request: ControlRequest["request"]): ProcessRequest {
  const { subtype } = request;
  if (!isKnown(subtype)) throw unsupported(subtype);
  return readFields<ProcessRequest>(schemas[subtype], request);
}

const isKnown = (subtype: string): subtype is keyof typeof schemas => Object.hasOwn(schemas, subtype);

const permissionSchema = z.discriminatedUnion("behavior", [
  z.object({
    behavior: z.literal("allow"),
    updatedInput: opt(z.nullable(record)),
    updatedPermissions: opt(z.nullable(z.array(z.looseObject({ type: z.string() })))),
  }),
  z.object({ behavior: z.literal("deny"), message: opt(z.string()), interrupt: opt(z.boolean()) }),
]);

/** Throws `ControlError` for what is no answer: whoever asked then counts it as a refusal. */
export function readPermission(answer: unknown): PermissionResult {
  const parsed = parseWith(permissionSchema, answer);
  if (!parsed.ok) throw new ControlError(`The answer is no permission: ${sayIssues(parsed.error)}`);
  const { value } = parsed;
  if (value.behavior === "deny")
    return {
      behavior: "deny",
      message: value.message ?? "Refused.",
      ...present({ interrupt: value.interrupt }),
    };
  const { updatedInput, updatedPermissions } = value;
  return {
    behavior: "allow",
    ...(updatedInput ? { updatedInput } : {}),
    // Each update is read again where it is used; one of an unknown kind has no effect.
    ...(updatedPermissions ? { updatedPermissions: updatedPermissions as PermissionUpdate[] } : {}),
  };
}

const elicitSchema = z.object({
  action: z.enum(["accept", "decline", "cancel"]),
  content: opt(record),
});

/** Whatever is no answer declines. */
export function readElicitation(answer: unknown): ElicitResult {
  const parsed = parseWith(elicitSchema, answer);
  if (!parsed.ok) return { action: "decline" };
  const { action, content } = parsed.value;
  return { action, ...(content ? { content: content as NonNullable<ElicitResult["content"]> } : {}) };
}

const mcpAnswerSchema = z.object({
  mcp_response: z.object({
    result: opt(z.unknown()),
    error: opt(z.looseObject({ code: opt(z.number()), message: z.string() })),
  }),
});

/** The result of a call, or throws the server's own error. */
export function readMcpAnswer(answer: unknown): Json {
  const parsed = parseWith(mcpAnswerSchema, answer);
  if (!parsed.ok) throw new ControlError("The server did not answer with a message.");
  const { error, result } = parsed.value.mcp_response;
  if (error) throw new ControlError(error.message);
  // It came as a line of JSON.
  return (result ?? {}) as Json;
}

/** The revision of the Model Context Protocol that both of our ends of a wire speak. */
export const protocolVersion = "2025-11-25";
