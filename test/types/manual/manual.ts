// What the interface's manual shows, as a program that is typed for the vendor's libraries: it compiles on Keel as it is.
import type { ContentBlockParam, MessageParam } from "@anthropic-ai/sdk/resources";
import type {
  BetaMessage,
  BetaRawMessageStreamEvent,
  BetaUsage,
} from "@anthropic-ai/sdk/resources/beta/messages/messages";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import {
  type AccountInfo,
  type AgentDefinition,
  type CanUseTool,
  createSdkMcpServer,
  type EffortLevel,
  filterEscalatingDefaultMode,
  foldSessionSummary,
  HOOK_EVENTS,
  type HookCallback,
  type HookCallbackMatcher,
  type HookEvent,
  type HookInput,
  type HookJSONOutput,
  InMemorySessionStore,
  type McpServerConfig,
  type ModelInfo,
  matchDeniedModels,
  type Options,
  type PermissionResult,
  type PostToolUseFailureHookInput,
  type PostToolUseHookInput,
  type PreToolUseHookInput,
  type Query,
  query,
  resolveSettings,
  type SDKMessage,
  type SDKRateLimitInfo,
  type SDKUserMessage,
  type SessionStore,
  type Settings,
  type SpawnedProcess,
  type SpawnOptions,
  tool,
  USAGE_LIMIT_ERROR_PREFIXES,
} from "keel";
import { z } from "zod";

// Prompts of the vendor's own types, with pictures by address and marks for the cache.
const blocks: ContentBlockParam[] = [
  { type: "text", text: "What is this?", cache_control: { type: "ephemeral" } },
  { type: "image", source: { type: "url", url: "https://example.org/a.png" } },
  { type: "image", source: { type: "base64", media_type: "image/png", data: "" } },
  { type: "document", source: { type: "text", media_type: "text/plain", data: "words" }, title: "A" },
];
const param: MessageParam = { role: "user", content: blocks };
async function* prompts(): AsyncGenerator<SDKUserMessage> {
  yield { type: "user", message: param, parent_tool_use_id: null, session_id: "" };
  yield {
    type: "user",
    message: { role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: "b" }] },
    parent_tool_use_id: null,
  };
}

// Hooks for every point, and inputs that a test makes.
const log: HookCallback = async (input, toolUseID, { signal }) => {
  if (signal.aborted) return { async: true, asyncTimeout: 5 };
  const told = input as PreToolUseHookInput;
  const file = (told.tool_input as { file_path?: string }).file_path;
  if (file?.endsWith(".env"))
    return {
      systemMessage: `${toolUseID} ${told.tool_name}`,
      hookSpecificOutput: {
        hookEventName: told.hook_event_name,
        permissionDecision: "deny",
        permissionDecisionReason: "secrets",
      },
    };
  return {};
};
export const hooks: Partial<Record<HookEvent, HookCallbackMatcher[]>> = Object.fromEntries(
  HOOK_EVENTS.map((event) => [event, [{ hooks: [log] }]]),
);
const base = { session_id: "s", transcript_path: "/t", cwd: "/" };
export const made: [PostToolUseHookInput, PostToolUseFailureHookInput] = [
  {
    ...base,
    hook_event_name: "PostToolUse",
    tool_name: "Read",
    tool_input: {},
    tool_response: {},
    tool_use_id: "a",
  },
  {
    ...base,
    hook_event_name: "PostToolUseFailure",
    tool_name: "Read",
    tool_input: {},
    tool_use_id: "a",
    error: "no",
  },
];
export async function decide(input: HookInput): Promise<HookJSONOutput> {
  switch (input.hook_event_name) {
    case "UserPromptSubmit":
      return { hookSpecificOutput: { hookEventName: "UserPromptSubmit", additionalContext: input.prompt } };
    case "SessionEnd":
      return input.reason === "logout" ? { continue: false } : {};
    case "CwdChanged":
      return { reason: input.new_cwd };
    case "PermissionRequest":
      return {
        hookSpecificOutput: {
          hookEventName: "PermissionRequest",
          decision: { behavior: "allow", updatedPermissions: input.permission_suggestions ?? [] },
        },
      };
    default:
      return {};
  }
}

// Tools, and servers of all kinds.
const weather = tool(
  "weather",
  "Says the weather.",
  { latitude: z.number().describe("degrees"), unit: z.enum(["C", "F"]).default("C") },
  async ({ latitude, unit }) => ({ content: [{ type: "text", text: `${latitude.toFixed(1)} ${unit}` }] }),
  { annotations: { readOnlyHint: true } },
);
const own = createSdkMcpServer({ name: "weather", version: "1.0.0", tools: [weather] });
own.instance.registerTool("more", { description: "More." }, async () => ({
  content: [{ type: "text", text: "more" }],
}));
const servers: Record<string, McpServerConfig> = {
  own,
  theirs: { type: "sdk", name: "theirs", instance: new McpServer({ name: "theirs", version: "1" }) },
  local: { command: "npx", args: ["-y", "server"], env: { KEY: "value" } },
  events: { type: "sse", url: "https://example.org/sse", headers: {} },
  http: {
    type: "http",
    url: "https://example.org/mcp",
    tools: [{ name: "a", permission_policy: "always_ask" }],
  },
};

const canUseTool: CanUseTool = async (name, input, { suggestions, signal, decisionReason }) => {
  const result: PermissionResult =
    name === "Bash" && !signal.aborted
      ? { behavior: "deny", message: decisionReason ?? "no", interrupt: true }
      : { behavior: "allow", updatedInput: { ...input }, updatedPermissions: suggestions ?? [] };
  return result;
};
const reviewer: AgentDefinition = {
  description: "Reviews.",
  prompt: "You review.",
  tools: ["Read", "Grep"],
  model: "inherit",
  effort: "high",
  mcpServers: ["own", { more: { command: "server" } }],
};
const settings: Settings = {
  permissions: { allow: ["Read"], deny: ["Bash(rm:*)"], defaultMode: "plan" },
  hooks: { Stop: [{ hooks: [{ type: "command", command: "true", timeout: 5 }] }] },
  env: { A: "b" },
  cleanupPeriodDays: 30,
  statusLine: { type: "command", command: "date" },
  effortLevel: "high",
};
const spawn = ({ command, args, cwd, env, signal }: SpawnOptions): SpawnedProcess => {
  throw new Error([command, args, cwd ?? "", env["PATH"], signal.aborted].join(" "));
};
const store: SessionStore = {
  append: async (key, entries) => void foldSessionSummary(undefined, key, entries, { mtime: 1 }),
  load: async () => [{ type: "user", message: {} }],
};
const effort: EffortLevel = "max";
export const options: Options = {
  agents: { reviewer },
  betas: ["context-1m-2025-08-07"],
  canUseTool,
  effort,
  extraArgs: { "replay-user-messages": null },
  hooks,
  mcpServers: servers,
  onUserDialog: async ({ dialogKind }) => (dialogKind === "a" ? { behavior: "cancelled" } : null),
  outputFormat: { type: "json_schema", schema: { type: "object" } },
  permissionMode: "default",
  sandbox: { enabled: true, network: { allowLocalBinding: true }, credentials: { files: [] } },
  sessionStore: store,
  settings,
  spawnClaudeCodeProcess: spawn,
  stderr: (data) => void data.length,
  systemPrompt: { type: "preset", preset: "claude_code", append: "Be brief." },
  thinking: { type: "adaptive", display: "summarized" },
  toolConfig: { askUserQuestion: { previewFormat: "html" } },
  tools: { type: "preset", preset: "claude_code" },
};

// Messages, handed to code that is typed for the vendor's library.
const whole = (message: BetaMessage): string => message.content.map(({ type }) => type).join();
const count = ({ input_tokens, server_tool_use }: BetaUsage): number =>
  input_tokens + (server_tool_use?.web_search_requests ?? 0);
const piece = (event: BetaRawMessageStreamEvent): string =>
  event.type === "content_block_delta" && event.delta.type === "text_delta" ? event.delta.text : "";
const limited = ({ status, resetsAt = 0 }: SDKRateLimitInfo): string => `${status} ${resetsAt}`;

export function show(message: SDKMessage): string {
  switch (message.type) {
    case "assistant":
      for (const block of message.message.content)
        if (block.type === "tool_use") return `${block.name} ${JSON.stringify(block.input)}`;
      return whole(message.message) + count(message.message.usage);
    case "user": {
      const answer: MessageParam = message.message;
      return typeof answer.content === "string"
        ? answer.content
        : answer.content.map(({ type }) => type).join();
    }
    case "stream_event":
      return piece(message.event);
    case "rate_limit_event":
      return limited(message.rate_limit_info);
    case "result": {
      if (message.subtype !== "success") return message.errors.join();
      const denied = message.permission_denials.map(({ tool_input }) => Object.keys(tool_input).join());
      return message.result + denied.join() + message.usage.cache_read_input_tokens.toFixed();
    }
    case "system":
      if (message.subtype === "init") return message.apiKeySource + message.mcp_servers.length;
      if (message.subtype === "compact_boundary")
        return message.compact_metadata.preserved_segment?.head_uuid ?? message.compact_metadata.trigger;
      if (message.subtype === "api_retry") return String(message.no_response?.waited_ms);
      if (message.subtype === "task_notification")
        return (message.resource_links ?? []).map(({ uri }) => uri).join();
      return message.subtype;
    default:
      return message.type;
  }
}

export async function program(): Promise<unknown> {
  const running: Query = query({ prompt: prompts(), options });
  for await (const message of running) show(message);
  const models: ModelInfo[] = await running.supportedModels();
  const account: AccountInfo = await running.accountInfo();
  await running.setMcpPermissionModeOverride("own", "default");
  await running.applyFlagSettings({ model: null, effortLevel: "max" });
  const status = (await running.mcpServerStatus()).map(({ config, tools }) => [
    config?.type,
    tools?.[0]?.annotations?.readOnly,
  ]);
  const { error } = await running.rewindFiles("id");
  const usage = await running.getContextUsage({ detail: "full" });
  const resolved = await resolveSettings({ cwd: "/", settingSources: ["user"] });
  const { permissions, model } = filterEscalatingDefaultMode(resolved);
  const { denied } = await matchDeniedModels([model ?? ""], resolved.effective.deniedModels);
  const kept = new InMemorySessionStore();
  return [
    models.flatMap(({ supportedEffortLevels = [] }) => supportedEffortLevels),
    [account.subscriptionType, account.tokenSource, status, error, usage.memoryFiles, permissions?.allow],
    [denied, kept.size, USAGE_LIMIT_ERROR_PREFIXES.some((prefix) => "words".startsWith(prefix))],
  ];
}
