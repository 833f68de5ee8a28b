// A program that uses every public name: it is compiled against the built types and never run.
import {
  type AbortError,
  archiveSession,
  type CanUseTool,
  createSdkMcpServer,
  createSession,
  deleteSession,
  forkSession,
  getSessionInfo,
  getSessionMessages,
  HOOK_EVENTS,
  type HookCallback,
  type HookCallbackMatcher,
  type HookEvent,
  type HookInput,
  type HookInputOf,
  type HookJSONOutput,
  InMemorySessionStore,
  listSessions,
  type McpServerConfig,
  type Options,
  type PermissionMode,
  type PermissionResult,
  type PermissionUpdate,
  type Query,
  query,
  renameSession,
  resumeSession,
  type SDKAssistantMessage,
  type SDKMessage,
  type SDKResultMessage,
  type SDKSession,
  type SDKSessionInfo,
  type SDKSystemMessage,
  type SDKUserMessage,
  type SessionMessage,
  type SessionStore,
  startup,
  tagSession,
  tool,
  type UserMessage,
  unarchiveSession,
  type WarmQuery,
} from "keel";
import * as z from "zod";

/** Compiles only when both types are the same. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const holds = <_ extends true>(): void => undefined;

const canUseTool: CanUseTool = async (toolName, input, { signal, suggestions, toolUseID }) => {
  if (signal.aborted || toolName === "") return { behavior: "deny", message: toolUseID, interrupt: true };
  const updates: PermissionUpdate[] = suggestions ?? [];
  const result: PermissionResult = { behavior: "allow", updatedInput: input, updatedPermissions: updates };
  return result;
};

const watch: HookCallback = async (input, toolUseID, { signal }) => {
  if (input.hook_event_name === "PreToolUse") {
    holds<Same<typeof input.tool_name, string>>();
    const pre: HookInputOf<"PreToolUse"> = input;
    return {
      continue: !signal.aborted,
      hookSpecificOutput: {
        hookEventName: "PreToolUse",
        permissionDecision: "ask",
        permissionDecisionReason: `${toolUseID} ${pre.tool_use_id}`,
        updatedInput: {},
        additionalContext: "",
      },
    };
  }
  const other: HookInput = input;
  const output: HookJSONOutput =
    other.cwd === "" ? { async: true, asyncTimeout: 1 } : { systemMessage: other.cwd };
  return output;
};
const matcher: HookCallbackMatcher = {
  matcher: "Edit|Write",
  hooks: [watch],
  timeout: 5,
  onFailure: "block",
};
const events: readonly HookEvent[] = HOOK_EVENTS;

const add = tool(
  "add",
  "Adds two numbers.",
  { a: z.number(), b: z.optional(z.number()) },
  async (args, extra) => {
    holds<Same<typeof args.a, number>>();
    holds<Same<typeof args.b, number | undefined>>();
    await extra.sendNotification({ method: "notifications/progress", params: { progress: 1, total: 2 } });
    return { content: [{ type: "text", text: String(args.a) }], structuredContent: { sum: args.a } };
  },
  { annotations: { readOnlyHint: true, title: "Add" }, alwaysLoad: true },
);
const whole = tool("whole", "Takes an object.", z.object({ name: z.string() }), async ({ name }) => ({
  content: [{ type: "image", data: name, mimeType: "image/png" }],
  isError: false,
}));
const server = createSdkMcpServer({ name: "sums", version: "1.0.0", tools: [add, whole], timeout: 1_000 });
const servers: Record<string, McpServerConfig> = {
  sums: server,
  local: { command: "server", args: ["--stdio"], env: {} },
  remote: { type: "http", url: "https://example.org/mcp", headers: {} },
};

const sessionStore: SessionStore = new InMemorySessionStore();
const mode: PermissionMode = "acceptEdits";
export const options: Options = {
  abortController: new AbortController(),
  additionalDirectories: ["/tmp"],
  allowedTools: ["Read"],
  allowDangerouslySkipPermissions: false,
  betas: ["context-1m-2025-08-07"],
  canUseTool,
  continue: false,
  cwd: "/",
  disallowedTools: ["Bash(rm:*)"],
  effort: "high",
  enableFileCheckpointing: true,
  env: { PATH: "/bin", EMPTY: undefined },
  extraArgs: { "replay-user-messages": null },
  fallbackModel: "haiku",
  forkSession: false,
  hooks: { PreToolUse: [matcher], Stop: [{ hooks: [watch] }] },
  includePartialMessages: true,
  keepOpen: true,
  maxBudgetUsd: 1,
  maxThinkingTokens: 1,
  maxTurns: 1,
  mcpServers: servers,
  model: "sonnet",
  outputFormat: { type: "json_schema", schema: { type: "object" } },
  permissionMode: mode,
  permissionPromptToolName: "mcp__sums__add",
  permissionPrompts: "host",
  persistSession: true,
  sessionStore,
  sessionStoreFlush: "eager",
  settings: { permissions: { allow: ["Read"] } },
  settingSources: ["user", "project", "local"],
  stderr: (data) => void data.length,
  systemPrompt: { type: "preset", preset: "claude_code", append: "Be brief." },
  thinking: { type: "enabled", budgetTokens: 1 },
  title: "A title",
  tools: { type: "preset", preset: "claude_code" },
};

async function* prompts(): AsyncGenerator<UserMessage> {
  yield {
    type: "user",
    message: { role: "user", content: [{ type: "text", text: "hi" }] },
    parent_tool_use_id: null,
    priority: "next",
    shouldQuery: true,
    uuid: "11111111-1111-4111-8111-111111111111",
  };
}

export async function program(): Promise<string[]> {
  const running: Query = query({ prompt: prompts(), options });
  const told: string[] = [];
  for await (const message of running) told.push(read(message));
  await running.interrupt();
  await running.setPermissionMode("plan");
  await running.setModel();
  await running.setMaxThinkingTokens(null);
  const { canRewind, filesChanged = [] } = await running.rewindFiles("id", { dryRun: true });
  await running.streamInput(prompts());
  const { commands, models, agents, account } = await running.initializationResult();
  told.push(...filesChanged, String(canRewind), ...commands.map(({ name }) => name));
  told.push(
    ...models.map(({ value }) => value),
    ...agents.map(({ name }) => name),
    account.apiKeySource ?? "",
  );
  told.push(...(await running.supportedCommands()).map(({ argumentHint }) => argumentHint));
  told.push(...(await running.supportedModels()).map(({ displayName }) => displayName));
  told.push(...(await running.supportedAgents()).map(({ description }) => description));
  told.push((await running.accountInfo()).apiProvider ?? "");
  told.push(...(await running.mcpServerStatus()).map(({ name, status }) => name + status));
  told.push(String((await running.getContextUsage()).totalTokens));
  await running.stopTask("task");
  await running.backgroundTasks("call");
  running.close();
  return told;
}

export async function sessions(): Promise<readonly (SDKSessionInfo | SessionMessage | undefined)[]> {
  const warm: WarmQuery = await startup({ options });
  warm.close();
  await using session: SDKSession = await createSession(options);
  await session.send("hi");
  for await (const message of session.stream()) read(message);
  await using again = await resumeSession(session.sessionId, options);
  await renameSession(again.sessionId, "A title");
  await tagSession(again.sessionId, null);
  await archiveSession(again.sessionId, { dir: "/" });
  await unarchiveSession(again.sessionId);
  const { sessionId } = await forkSession(again.sessionId, { upToMessageId: "id", title: "A copy" });
  const listed = await listSessions({ dir: "/", limit: 1, offset: 1 });
  const messages = await getSessionMessages(sessionId, { includeSystemMessages: true });
  const info = await getSessionInfo(sessionId, { sessionStore });
  await deleteSession(sessionId);
  return [...listed, ...messages, info];
}

/** Every kind that a program looks at can be told apart. */
function read(message: SDKMessage): string {
  switch (message.type) {
    case "assistant": {
      const { message: reply, parent_tool_use_id }: SDKAssistantMessage = message;
      return `${reply.id}${parent_tool_use_id}${reply.content.map(({ type }) => type)}`;
    }
    case "user": {
      const user: SDKUserMessage = message;
      return `${user.isSynthetic}${JSON.stringify(user.tool_use_result)}`;
    }
    case "result": {
      const result: SDKResultMessage = message;
      if (result.subtype === "success") return `${result.result}${JSON.stringify(result.structured_output)}`;
      return `${result.errors.join()}${result.total_cost_usd}${result.permission_denials.length}`;
    }
    case "stream_event":
      return message.event.type;
    case "tool_progress":
      return message.tool_name;
    case "system":
      if (message.subtype === "init") {
        const init: SDKSystemMessage = message;
        return init.tools.join() + init.mcp_servers.map(({ status }) => status).join();
      }
      if (message.subtype === "compact_boundary") return message.compact_metadata.trigger;
      return message.subtype;
    default:
      return message.type;
  }
}

export const isAbort = (thrown: unknown): thrown is AbortError => thrown instanceof Error;
export const pointCount = events.length;
