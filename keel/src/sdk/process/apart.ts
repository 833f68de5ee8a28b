/** `isolation: "process"`: a query whose session runs in a process of its own. What that needs is loaded when it starts. */
import type { Queue } from "../../kernel/queue.ts";
import type { InquiryAnswer } from "../../protocol/inquiry.ts";
import type { SDKMessage } from "../messages/messages.ts";
import { environmentOf } from "../options/environment.ts";
import type { Options } from "../options/options.ts";
import type { Prompt } from "../query/conversation.ts";
import { homeOf } from "../query/homes.ts";
import type { QueryMethods } from "../query/query-methods.ts";
import type { SDKControlInitializeResponse } from "../query/responses.ts";
import type { McpServerStatus } from "../tools/mcp-server.ts";
import type { ProcessSession } from "./process-session.ts";

/** Whoever names an executable wants it to be used. */
export const runsApart = ({
  isolation,
  pathToClaudeCodeExecutable,
  spawnClaudeCodeProcess,
}: Options): boolean =>
  isolation === "process" ||
  (isolation === undefined && (pathToClaudeCodeExecutable ?? spawnClaudeCodeProcess) !== undefined);

type ApartQuery = AsyncGenerator<SDKMessage, void> &
  ReturnType<typeof processMethods> & { [Symbol.asyncDispose](): Promise<void> };

type Apart = {
  /** Resolves when the process has said what it can do. Throws what kept it from starting. */
  introduced(): Promise<unknown>;
  query(prompt: Prompt): ApartQuery;
  close(): Promise<void>;
};

export function startApart(options: Options, out: Queue<SDKMessage>): Apart {
  const running = start(options, out);
  running.catch((thrown: unknown) => out.fail(thrown));
  const close = async (): Promise<void> => (await running.catch(() => undefined))?.close();
  const introduced = running.then((session) => session.introduced);
  introduced.catch(() => undefined);
  return {
    introduced: () => introduced,
    query(prompt) {
      void running.then((session) => session.live(prompt)).catch(() => undefined);
      return Object.assign(read(out, close), {
        ...processMethods(running),
        [Symbol.asyncDispose]: close,
      });
    },
    close,
  };
}

async function start(options: Options, out: Queue<SDKMessage>): Promise<ProcessSession> {
  const { ProcessSession: Session } = await import("./process-session.ts");
  if (options.sessionStore && options.resume !== undefined) {
    const { restored } = await import("../stored/mirror.ts");
    const cwd = options.cwd ?? process.cwd();
    const { sessions } = await homeOf({ env: environmentOf(options, process.env), cwd });
    await restored(options, { cwd, sessions });
  }
  return new Session(options, out);
}

/** The iterator. Leaving it early ends the session. */
export async function* read(
  out: Queue<SDKMessage>,
  close: () => Promise<void>,
): AsyncGenerator<SDKMessage, void> {
  try {
    yield* out;
  } finally {
    await close();
  }
}

type ProcessMethods = Omit<QueryMethods, symbol>;

/** The process may still be starting. What it answers has the form that the interface says. */
export function processMethods(running: Promise<ProcessSession>): ProcessMethods {
  const ask = async <T>(subtype: string, fields: Record<string, unknown> = {}): Promise<T> =>
    (await (await running).request({ subtype, ...fields })) as T;
  const tell = async (subtype: string, fields: Record<string, unknown>): Promise<void> => {
    await ask(subtype, fields);
  };
  const introduced = async (): Promise<SDKControlInitializeResponse> => (await running).introduced;
  return {
    interrupt: ({ cancelQueued = false } = {}) => ask("interrupt", { cancel_queued: cancelQueued }),
    setPermissionMode: (mode) => tell("set_permission_mode", { mode }),
    setModel: (model) => tell("set_model", model === undefined ? {} : { model }),
    setMaxThinkingTokens: (tokens) => tell("set_max_thinking_tokens", { max_thinking_tokens: tokens }),
    rewindFiles: (userMessageId, { dryRun = false } = {}) =>
      ask("rewind_files", { user_message_id: userMessageId, dry_run: dryRun }),
    streamInput: async (messages) => (await running).send(messages),
    initializationResult: introduced,
    // Servers bring commands later: who asks is told of those that there are now.
    supportedCommands: async () => (await ask<SDKControlInitializeResponse>("initialize")).commands,
    supportedModels: async () => (await introduced()).models,
    supportedAgents: async () => (await introduced()).agents,
    accountInfo: async () => (await introduced()).account,
    reinitialize: () => ask("initialize"),
    setMcpServers: async (servers) => ask("mcp_set_servers", { servers: (await running).serve(servers) }),
    setMcpPermissionModeOverride: async (serverName, mode) =>
      (await ask<{ warning?: string } | undefined>("set_mcp_permission_mode_override", {
        serverName,
        mode,
      })) ?? {},
    toggleMcpServer: (serverName, enabled) => tell("mcp_toggle", { serverName, enabled }),
    reconnectMcpServer: (serverName) => tell("mcp_reconnect", { serverName }),
    applyFlagSettings: (settings) => tell("apply_flag_settings", { settings }),
    renameSession: (title) => tell("rename_session", { title }),
    generateSessionTitle: async (description, { persist = false } = {}) =>
      (await ask<{ title: string | null }>("generate_session_title", { description, persist })).title,
    getSettings: () => ask("get_settings"),
    updateSettings: (source, settings) => tell("update_settings", { source, settings }),
    readFile: (path, { maxBytes, encoding } = {}) =>
      ask<Awaited<ReturnType<ProcessMethods["readFile"]>>>("read_file", {
        path,
        max_bytes: maxBytes,
        encoding,
      }).catch(() => null),
    inquire: async (inquiry, ...[question]) =>
      (await ask<{ answer: InquiryAnswer<typeof inquiry> }>("inquire", { inquiry, question })).answer,
    reloadPlugins: () => ask("reload_plugins"),
    reloadSkills: () => ask("reload_skills"),
    reloadOutputStyles: () => ask("reload_output_styles"),
    seedReadState: (path, mtime) => tell("seed_read_state", { path, mtime }),
    readMcpResource: (serverName, uri) => ask("mcp_read_resource", { serverName, uri }),
    usage_EXPERIMENTAL_MAY_CHANGE_DO_NOT_RELY_ON_THIS_API_YET: () => ask("get_usage"),
    mcpServerStatus: async () => (await ask<{ mcpServers: McpServerStatus[] }>("mcp_status")).mcpServers,
    getContextUsage: () => ask("get_context_usage"),
    stopTask: (taskId) => tell("stop_task", { task_id: taskId }),
    async backgroundTasks(toolUseId) {
      await ask("background_tasks", toolUseId === undefined ? {} : { tool_use_id: toolUseId });
      return true;
    },
    close: () => void running.then((session) => session.close()).catch(() => undefined),
  };
}
