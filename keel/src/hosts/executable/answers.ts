/** What an SDK asks of its session, answered: each subtype by the method of a query that means the same. */
import type { OpenSession } from "../../app/open-session.ts";
import { never } from "../../kernel/never.ts";
import { type PermissionMode, permissionModeSchema } from "../../protocol/settings.ts";
import { ControlError } from "../../sdk/control/channel.ts";
import type { HostRequest } from "../../sdk/control/host-requests.ts";
import type { Conversation } from "../../sdk/query/conversation.ts";
import { callTool, hooksListing, rulesOf, settingsOf } from "../../sdk/query/inquiries.ts";
import type { QueryMethods } from "../../sdk/query/query.ts";
import type { McpServerConfig } from "../../sdk/tools/mcp-server.ts";
import { sayUsd } from "../../view/say.ts";

export type Answering = {
  readonly conversation: Pick<Conversation, "submit" | "set">;
  readonly methods: QueryMethods;
  readonly session: OpenSession;
  readonly version: string;
  /** Those of the program at the other end are called over the wire. */
  serversOf(servers: Record<string, { type?: string | undefined }>): Promise<Record<string, McpServerConfig>>;
};

/** Beside the introduction, and the messages for its servers, which whoever holds the wire answers. */
export type SessionRequest = Exclude<HostRequest, { subtype: "initialize" | "mcp_message" | "end_session" }>;

/** Undefined where the interface says nothing more than that it was done. */
export async function answerRequest(request: SessionRequest, on: Answering): Promise<unknown> {
  const { conversation, methods, session, version } = on;
  switch (request.subtype) {
    case "interrupt":
      return methods.interrupt({ cancelQueued: request.cancel_queued === true });
    case "set_permission_mode":
      return setMode(request.mode, on);
    case "set_model": {
      const model = request.model ?? session.info.model;
      await methods.setModel(model);
      return { model };
    }
    case "set_max_thinking_tokens":
      return methods.setMaxThinkingTokens(request.max_thinking_tokens ?? null);
    case "rewind_files":
      return methods.rewindFiles(request.user_message_id, { dryRun: request.dry_run === true });
    case "rename_session":
      return conversation.set({ title: request.title });
    case "stop_task":
      await methods.stopTask(request.task_id);
      return {};
    case "background_tasks":
      await methods.backgroundTasks(request.tool_use_id);
      return {};
    case "cancel_async_message": {
      const receipt = await conversation.submit({ type: "drop", inputId: request.message_uuid });
      return { cancelled: receipt.type === "dropped" && receipt.found };
    }
    case "mcp_status":
      return { mcpServers: await methods.mcpServerStatus() };
    case "get_context_usage":
      return methods.getContextUsage();
    case "get_session_cost":
      return { text: sayUsd(session.bill().costUsd) };
    case "get_binary_version":
      return { version };
    case "list_models":
      return { models: await methods.supportedModels() };
    case "mcp_set_servers":
      return methods.setMcpServers(await on.serversOf(request.servers));
    case "mcp_reconnect":
      return methods.reconnectMcpServer(request.serverName);
    case "mcp_toggle":
      return methods.toggleMcpServer(request.serverName, request.enabled);
    case "apply_flag_settings":
      return methods.applyFlagSettings(request.settings);
    case "update_settings":
      return methods.updateSettings(request.source, request.settings);
    case "read_file":
      return readFile(request, methods);
    case "get_usage":
      return methods.usage_EXPERIMENTAL_MAY_CHANGE_DO_NOT_RELY_ON_THIS_API_YET();
    case "get_settings":
      return settingsOf(session);
    case "get_hooks_listing":
      return hooksListing(session);
    case "get_task_output":
      return taskOutput(request.task_id, session);
    case "list_permission_rules":
      return rulesOf(session);
    case "file_suggestions": {
      const paths = await (await session.inquiries()).suggestFiles(request.query);
      return { suggestions: paths.map((path) => ({ path, displayText: path })), cwd: session.info.cwd };
    }
    case "reload_plugins":
      if (request.add_plugins && request.add_plugins.length > 0)
        throw new ControlError(
          "Plugins are named when a session starts: --plugin-dir.",
          "unsupported_request",
        );
      return methods.reloadPlugins();
    case "reload_skills":
      return methods.reloadSkills();
    case "reload_output_styles":
      return methods.reloadOutputStyles();
    case "register_repo_root":
      return session.changePermissions([
        { type: "folders", change: "add", folders: [request.directory], to: "session" },
      ]);
    case "seed_read_state":
      return methods.seedReadState(request.path, request.mtime);
    case "mcp_read_resource":
      return methods.readMcpResource(request.serverName, request.uri);
    case "mcp_call":
      return call(request, session);
    default:
      return never(request);
  }
}

async function taskOutput(id: string, session: OpenSession): Promise<unknown> {
  const found = await (await session.inquiries()).taskOutput(id);
  if (!found) throw new ControlError(`There is no task ${id.slice(0, 100)}.`);
  return { output: found.text, total_bytes: found.totalBytes, truncated: found.truncated };
}

function call(
  request: Extract<SessionRequest, { subtype: "mcp_call" }>,
  session: OpenSession,
): Promise<unknown> {
  if (request.input_files?.length || request.output_files?.length)
    throw new ControlError("Files are not carried to and from a server.", "unsupported_request");
  return callTool(session, {
    tool: request.tool,
    input: request.arguments ?? {},
    permission: request.check_permissions ? "as-model" : "own",
    timeoutMs: request.timeout_ms,
  });
}

async function readFile(
  { path, max_bytes, encoding }: Extract<SessionRequest, { subtype: "read_file" }>,
  methods: QueryMethods,
): Promise<unknown> {
  const found = await methods.readFile(path, {
    ...(max_bytes ? { maxBytes: max_bytes } : {}),
    ...(encoding ? { encoding: encoding === "base64" ? "base64" : "utf-8" } : {}),
  });
  if (found === null) throw new ControlError(`read denied: ${path.slice(0, 200)}`);
  return { ...found, requested_path: path };
}

async function setMode(mode: string, { conversation }: Answering): Promise<{ mode: PermissionMode }> {
  const known = permissionModeSchema.safeParse(mode === "manual" ? "default" : mode);
  if (!known.success)
    throw new ControlError(`There is no permission mode ${mode.slice(0, 50)}.`, "invalid_mode");
  try {
    await conversation.set({ permissionMode: known.data });
  } catch (thrown) {
    if (known.data !== "bypassPermissions") throw thrown;
    throw new ControlError(thrown instanceof Error ? thrown.message : String(thrown), "bypass_not_launched");
  }
  return { mode: known.data };
}

/** Handled one after the other and with the messages: each means the session as the lines before it left it. */
export const isInOrder = ({ subtype }: SessionRequest): boolean =>
  [
    "interrupt",
    "set_permission_mode",
    "set_model",
    "set_max_thinking_tokens",
    "cancel_async_message",
  ].includes(subtype);
