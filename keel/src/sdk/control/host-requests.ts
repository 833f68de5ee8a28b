/**
 * What an SDK may ask of its executable, as one table: each subtype with its fields, and with the method of a query that
 * means the same. A subtype that is not here is answered with the error that the interface has for it.
 */

import * as z from "zod/mini";
import type { OpenSession } from "../../app/open-session.ts";
import { reasonOf } from "../../kernel/fault.ts";
import { type InquiryName, inquireFields } from "../../protocol/inquiry.ts";
import { type PermissionMode, permissionModeSchema } from "../../protocol/settings.ts";
import { sayUsd } from "../../view/say.ts";
import type { Conversation } from "../query/conversation.ts";
import { callTool, hooksListing, rulesOf, settingsOf } from "../query/inquiries.ts";
import type { QueryMethods } from "../query/query-methods.ts";
import type { McpServerConfig } from "../tools/mcp-server.ts";
import { ControlError, readFields, unsupported } from "./channel.ts";
import type { ControlRequest } from "./frames.ts";

const text = z.string();
const flag = z.boolean();
const record = z.record(z.string(), z.unknown());
const opt = z.optional;
const server = { serverName: text };

export type Answering = {
  readonly conversation: Pick<Conversation, "submit" | "set">;
  readonly methods: QueryMethods;
  readonly session: OpenSession;
  readonly version: string;
  /** Those of the program at the other end are called over the wire. */
  serversOf(servers: Record<string, { type?: string | undefined }>): Promise<Record<string, McpServerConfig>>;
};

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

export type InitializeRequest = z.infer<typeof initialize>;
const mcpMessage = z.object({ subtype: z.literal("mcp_message"), server_name: text, message: record });

type RequestRow = {
  readonly schema: z.ZodMiniType<object>;
  /** Handled one after the other and with the messages: it means the session as the lines before it left it. */
  readonly inOrder: boolean;
  /** Undefined where the interface says nothing more than that it was done. */
  answer(request: object, on: Answering): unknown;
};

const row =
  (inOrder: boolean) =>
  <Fields extends z.core.$ZodLooseShape>(
    fields: Fields,
    answer: (request: z.infer<z.ZodMiniObject<Fields>>, on: Answering) => unknown,
  ): RequestRow => ({
    schema: z.object(fields),
    inOrder,
    // The schema of the row has read the request.
    answer: answer as RequestRow["answer"],
  });
const ask = row(false);
const inOrder = row(true);

const requests = {
  interrupt: inOrder({ cancel_queued: opt(flag) }, ({ cancel_queued }, { methods }) =>
    methods.interrupt({ cancelQueued: cancel_queued === true }),
  ),
  set_permission_mode: inOrder({ mode: text }, ({ mode }, on) => setMode(mode, on)),
  set_model: inOrder({ model: opt(z.nullable(text)) }, async ({ model: given }, { methods, session }) => {
    const model = given ?? session.info.model;
    await methods.setModel(model);
    return { model };
  }),
  set_max_thinking_tokens: inOrder(
    { max_thinking_tokens: opt(z.nullable(z.number().check(z.nonnegative()))) },
    ({ max_thinking_tokens }, { methods }) => methods.setMaxThinkingTokens(max_thinking_tokens ?? null),
  ),
  cancel_async_message: inOrder({ message_uuid: text }, async ({ message_uuid }, { conversation }) => {
    const receipt = await conversation.submit({ type: "drop", inputId: message_uuid });
    return { cancelled: receipt.type === "dropped" && receipt.found };
  }),
  rewind_files: ask(
    { user_message_id: text, dry_run: opt(flag) },
    ({ user_message_id, dry_run }, { methods }) =>
      methods.rewindFiles(user_message_id, { dryRun: dry_run === true }),
  ),
  rename_session: ask({ title: text }, ({ title }, { methods }) => methods.renameSession(title)),
  generate_session_title: ask(
    { description: text, persist: opt(z.nullable(flag)) },
    async ({ description, persist }, { methods }) => ({
      title: await methods.generateSessionTitle(description, { persist: persist === true }),
    }),
  ),
  stop_task: ask({ task_id: text }, ({ task_id }, { methods }) => methods.stopTask(task_id).then(() => ({}))),
  background_tasks: ask({ tool_use_id: opt(text) }, ({ tool_use_id }, { methods }) =>
    methods.backgroundTasks(tool_use_id).then(() => ({})),
  ),
  mcp_status: ask({}, async (_, { methods }) => ({ mcpServers: await methods.mcpServerStatus() })),
  mcp_set_servers: ask(
    { servers: z.record(z.string(), z.looseObject({ type: opt(text) })) },
    async ({ servers }, { methods, serversOf }) => methods.setMcpServers(await serversOf(servers)),
  ),
  mcp_reconnect: ask(server, ({ serverName }, { methods }) => methods.reconnectMcpServer(serverName)),
  set_mcp_permission_mode_override: inOrder(
    { ...server, mode: z.nullable(z.enum(["auto", "default"])) },
    ({ serverName, mode }, { methods }) => methods.setMcpPermissionModeOverride(serverName, mode),
  ),
  mcp_toggle: ask({ ...server, enabled: flag }, ({ serverName, enabled }, { methods }) =>
    methods.toggleMcpServer(serverName, enabled),
  ),
  mcp_read_resource: ask({ ...server, uri: text }, ({ serverName, uri }, { methods }) =>
    methods.readMcpResource(serverName, uri),
  ),
  mcp_call: ask(
    {
      tool: text,
      arguments: opt(record),
      timeout_ms: opt(z.number().check(z.positive())),
      check_permissions: opt(flag),
      input_files: opt(z.array(record)),
      output_files: opt(z.array(record)),
    },
    (request, { session }) => {
      if (request.input_files?.length || request.output_files?.length)
        throw new ControlError("Files are not carried to and from a server.", "unsupported_request");
      return callTool(session, {
        tool: request.tool,
        input: request.arguments ?? {},
        permission: request.check_permissions ? "as-model" : "own",
        timeoutMs: request.timeout_ms,
      });
    },
  ),
  apply_flag_settings: ask({ settings: record }, ({ settings }, { methods }) =>
    methods.applyFlagSettings(settings),
  ),
  update_settings: ask(
    { source: z.enum(["localSettings", "userSettings"]), settings: record },
    ({ source, settings }, { methods }) => methods.updateSettings(source, settings),
  ),
  read_file: ask(
    {
      path: text,
      max_bytes: opt(z.nullable(z.number())),
      encoding: opt(z.nullable(z.enum(["utf-8", "utf8", "base64"]))),
    },
    async ({ path, max_bytes, encoding }, { methods }) => {
      const found = await methods.readFile(path, {
        ...(max_bytes ? { maxBytes: max_bytes } : {}),
        ...(encoding ? { encoding } : {}),
      });
      if (found === null) throw new ControlError(`read denied: ${path.slice(0, 200)}`);
      return found;
    },
  ),
  get_context_usage: ask({}, (_, { methods }) => methods.getContextUsage()),
  get_usage: ask({}, (_, { methods }) => methods.usage_EXPERIMENTAL_MAY_CHANGE_DO_NOT_RELY_ON_THIS_API_YET()),
  get_session_cost: ask({}, (_, { session }) => ({ text: sayUsd(session.bill().costUsd) })),
  get_binary_version: ask({}, (_, { version }) => ({ version })),
  get_settings: ask({}, (_, { session }) => settingsOf(session)),
  get_hooks_listing: ask({}, (_, { session }) => hooksListing(session)),
  get_task_output: ask({ task_id: text }, async ({ task_id: id }, { session }) => {
    const found = await session.inquire("taskOutput", { id });
    if (!found) throw new ControlError(`There is no task ${id.slice(0, 100)}.`);
    return { output: found.text, total_bytes: found.totalBytes, truncated: found.truncated };
  }),
  list_permission_rules: ask({}, (_, { session }) => rulesOf(session)),
  list_models: ask({}, async (_, { methods }) => ({ models: await methods.supportedModels() })),
  file_suggestions: ask({ query: text }, async ({ query: typed }, { session }) => {
    const paths = await session.inquire("files", { typed });
    return { suggestions: paths.map((path) => ({ path, displayText: path })), cwd: session.info.cwd };
  }),
  reload_plugins: ask({ add_plugins: opt(z.array(record)) }, ({ add_plugins }, { methods }) => {
    if (add_plugins?.length)
      throw new ControlError("Plugins are named when a session starts: --plugin-dir.", "unsupported_request");
    return methods.reloadPlugins();
  }),
  reload_skills: ask({}, (_, { methods }) => methods.reloadSkills()),
  reload_output_styles: ask({}, (_, { methods }) => methods.reloadOutputStyles()),
  register_repo_root: ask({ directory: text }, ({ directory }, { session }) =>
    session.changePermissions([{ type: "folders", change: "add", folders: [directory], to: "session" }]),
  ),
  seed_read_state: ask({ path: text, mtime: z.number() }, ({ path, mtime }, { methods }) =>
    methods.seedReadState(path, mtime),
  ),
  // Keel's own: every row of the table of inquiries.
  inquire: ask(inquireFields, async ({ inquiry, question }, { session }) => ({
    answer: await session.inquire(inquiry as InquiryName, question),
  })),
};

export type SessionRequest = { readonly subtype: keyof typeof requests };

/** Beside what the session answers: the introduction, and what whoever holds the wire does itself. */
export type HostRequest =
  | InitializeRequest
  | z.infer<typeof mcpMessage>
  | { readonly subtype: "end_session" }
  | SessionRequest;

/** Throws `ControlError` for a subtype that nobody knows, and for fields that are wrong. */
export function readHostRequest(request: ControlRequest["request"]): HostRequest {
  const { subtype } = request;
  if (subtype === "end_session") return { subtype };
  if (subtype === "initialize") return readFields(initialize, request);
  if (subtype === "mcp_message") return readFields(mcpMessage, request);
  if (!isKnown(subtype)) throw unsupported(subtype, meaningless.get(subtype));
  return { ...readFields<object>(requests[subtype].schema, request), subtype };
}

const isKnown = (subtype: string): subtype is SessionRequest["subtype"] => Object.hasOwn(requests, subtype);

export const answerRequest = async (request: SessionRequest, on: Answering): Promise<unknown> =>
  requests[request.subtype].answer(request, on);

export const isInOrder = ({ subtype }: SessionRequest): boolean => requests[subtype].inOrder;

/** Of the interface, and without a meaning here: each is refused with the reason. */
export const meaningless: ReadonlyMap<string, string> = new Map(
  Object.entries({
    set_color: "Keel has no colours to set",
    set_has_subscribers: "nobody is told more or less because others listen",
    claim_session: "no process is kept in stock: a session opens in milliseconds",
    request_user_dialog: "it is asked by the executable",
  }),
);

async function setMode(mode: string, { conversation }: Answering): Promise<{ mode: PermissionMode }> {
  const known = permissionModeSchema.safeParse(mode === "manual" ? "default" : mode);
  if (!known.success)
    throw new ControlError(`There is no permission mode ${mode.slice(0, 50)}.`, "invalid_mode");
  try {
    await conversation.set({ permissionMode: known.data });
  } catch (thrown) {
    if (known.data !== "bypassPermissions") throw thrown;
    throw new ControlError(reasonOf(thrown), "bypass_not_launched");
  }
  return { mode: known.data };
}
