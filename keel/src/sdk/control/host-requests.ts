/**
 * What an SDK may ask of its executable, as data: one row for each subtype, with its fields. A subtype that is not here is
 * answered with the error that the interface has for it.
 */
import * as z from "zod/mini";
import { parseWith, sayIssues } from "../../kernel/schema.ts";
import { shorten } from "../../kernel/text.ts";
import { ControlError, unsupported } from "./channel.ts";
import type { ControlRequest } from "./frames.ts";

const text = z.string();
const flag = z.boolean();
const record = z.record(z.string(), z.unknown());
const opt = z.optional;

const hookMatcher = z.object({
  matcher: opt(z.nullable(text)),
  hookCallbackIds: z.array(text),
  timeout: opt(z.number()),
  onFailure: opt(z.enum(["continue", "block"])),
});

/** The wishes that are too large or too private for arguments. Unknown ones are passed over: SDKs grow. */
const initialize = z.object({
  subtype: z.literal("initialize"),
  hooks: opt(z.nullable(z.record(z.string(), z.array(hookMatcher)))),
  sdkMcpServers: opt(z.array(text)),
  sdkMcpServerConfigs: opt(z.record(z.string(), z.looseObject({ timeout: opt(z.number()) }))),
  sdkMcpServerManifests: opt(
    z.record(z.string(), z.looseObject({ initializeResult: opt(record), toolsListResult: opt(record) })),
  ),
  jsonSchema: opt(record),
  systemPrompt: opt(z.union([text, z.array(text)])),
  appendSystemPrompt: opt(text),
  agents: opt(z.record(z.string(), record)),
  title: opt(text),
  skills: opt(z.union([z.literal("all"), z.array(text)])),
  plugins: opt(z.array(record)),
  toolAliases: opt(z.record(z.string(), z.string())),
  planModeInstructions: opt(text),
  forwardSubagentText: opt(flag),
  promptSuggestions: opt(flag),
  agentProgressSummaries: opt(flag),
  excludeDynamicSections: opt(flag),
});

const named = { serverName: text };

const schemas = {
  initialize,
  interrupt: z.object({ subtype: z.literal("interrupt"), cancel_queued: opt(flag) }),
  set_permission_mode: z.object({ subtype: z.literal("set_permission_mode"), mode: text }),
  set_model: z.object({ subtype: z.literal("set_model"), model: opt(z.nullable(text)) }),
  set_max_thinking_tokens: z.object({
    subtype: z.literal("set_max_thinking_tokens"),
    max_thinking_tokens: opt(z.nullable(z.number().check(z.nonnegative()))),
  }),
  rewind_files: z.object({
    subtype: z.literal("rewind_files"),
    user_message_id: text,
    dry_run: opt(flag),
  }),
  rename_session: z.object({ subtype: z.literal("rename_session"), title: text }),
  stop_task: z.object({ subtype: z.literal("stop_task"), task_id: text }),
  background_tasks: z.object({ subtype: z.literal("background_tasks"), tool_use_id: opt(text) }),
  cancel_async_message: z.object({ subtype: z.literal("cancel_async_message"), message_uuid: text }),
  mcp_status: z.object({ subtype: z.literal("mcp_status") }),
  mcp_message: z.object({ subtype: z.literal("mcp_message"), server_name: text, message: record }),
  mcp_set_servers: z.object({
    subtype: z.literal("mcp_set_servers"),
    servers: z.record(z.string(), z.looseObject({ type: opt(text) })),
  }),
  mcp_reconnect: z.object({ subtype: z.literal("mcp_reconnect"), ...named }),
  mcp_toggle: z.object({ subtype: z.literal("mcp_toggle"), ...named, enabled: flag }),
  apply_flag_settings: z.object({ subtype: z.literal("apply_flag_settings"), settings: record }),
  update_settings: z.object({
    subtype: z.literal("update_settings"),
    source: z.enum(["localSettings", "userSettings"]),
    settings: record,
  }),
  read_file: z.object({
    subtype: z.literal("read_file"),
    path: text,
    max_bytes: opt(z.nullable(z.number())),
    encoding: opt(z.nullable(z.enum(["utf-8", "utf8", "base64"]))),
  }),
  get_context_usage: z.object({ subtype: z.literal("get_context_usage") }),
  get_usage: z.object({ subtype: z.literal("get_usage") }),
  get_settings: z.object({ subtype: z.literal("get_settings") }),
  get_hooks_listing: z.object({ subtype: z.literal("get_hooks_listing") }),
  get_task_output: z.object({ subtype: z.literal("get_task_output"), task_id: text }),
  list_permission_rules: z.object({ subtype: z.literal("list_permission_rules") }),
  file_suggestions: z.object({ subtype: z.literal("file_suggestions"), query: text }),
  reload_plugins: z.object({ subtype: z.literal("reload_plugins"), add_plugins: opt(z.array(record)) }),
  reload_skills: z.object({ subtype: z.literal("reload_skills") }),
  reload_output_styles: z.object({ subtype: z.literal("reload_output_styles") }),
  register_repo_root: z.object({ subtype: z.literal("register_repo_root"), directory: text }),
  seed_read_state: z.object({ subtype: z.literal("seed_read_state"), path: text, mtime: z.number() }),
  mcp_read_resource: z.object({ subtype: z.literal("mcp_read_resource"), ...named, uri: text }),
  mcp_call: z.object({
    subtype: z.literal("mcp_call"),
    tool: text,
    arguments: opt(record),
    timeout_ms: opt(z.number().check(z.positive())),
    check_permissions: opt(flag),
    input_files: opt(z.array(record)),
    output_files: opt(z.array(record)),
  }),
  get_session_cost: z.object({ subtype: z.literal("get_session_cost") }),
  get_binary_version: z.object({ subtype: z.literal("get_binary_version") }),
  list_models: z.object({ subtype: z.literal("list_models") }),
  end_session: z.object({ subtype: z.literal("end_session") }),
} as const;

export type HostRequest = z.infer<(typeof schemas)[keyof typeof schemas]>;
export type InitializeRequest = z.infer<typeof initialize>;

/** Throws `ControlError` for a subtype that nobody knows, and for fields that are wrong. */
export function readHostRequest(request: ControlRequest["request"]): HostRequest {
  const { subtype } = request;
  if (!isKnown(subtype)) throw unsupported(subtype, meaningless.get(subtype));
  const parsed = parseWith<HostRequest>(schemas[subtype], request);
  if (parsed.ok) return parsed.value;
  throw new ControlError(shorten(`${subtype}: ${sayIssues(parsed.error)}`, 300), "invalid_request");
}

/** Of the interface, and without a meaning here: each is refused with the reason. */
export const meaningless: ReadonlyMap<string, string> = new Map(
  Object.entries({
    set_color: "Keel has no colours to set",
    set_has_subscribers: "nobody is told more or less because others listen",
    set_mcp_permission_mode_override: "rules name servers: mcp__server",
    claim_session: "no process is kept in stock: a session opens in milliseconds",
    request_user_dialog: "it is asked by the executable",
  }),
);

const isKnown = (subtype: string): subtype is keyof typeof schemas => Object.hasOwn(schemas, subtype);
