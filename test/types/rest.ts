// Options, tools, servers, settings and sessions by the names of their types: compiled and never run.
import {
  type AcceptedOptions,
  type AccountInfo,
  type AgentDefinition,
  type AgentInfo,
  type AnyToolDefinition,
  BUILTIN_TOOL_NAMES,
  type CallToolResult,
  createSdkMcpServer,
  type ElicitationRequest,
  type ElicitResult,
  getSubagentMessages,
  InMemorySessionStore,
  importSessionToStore,
  LEGACY_TOOL_NAME_ALIASES,
  type ListSessionsOptions,
  listSessions,
  listSubagents,
  type McpHttpServerConfig,
  type McpSdkServerConfig,
  type McpSdkServerConfigWithInstance,
  type McpServerStatus,
  type McpSetServersResult,
  type McpStdioServerConfig,
  type ModelInfo,
  type OnElicitation,
  type Options,
  type OutputOf,
  type PermissionBehavior,
  type PermissionRuleValue,
  type PermissionUpdate,
  type PermissionUpdateDestination,
  type Prompt,
  type Query,
  type QueryControls,
  query,
  type ReadFileOptions,
  type ReadFileResult,
  type ResolvedSettings,
  type ResolvedSource,
  type ResolveSettingsOptions,
  type RewindFilesResult,
  resolveSettings,
  type SandboxFilesystemConfig,
  type SandboxNetworkConfig,
  type SandboxSettings,
  type SDKControlGetContextUsageResponse,
  type SDKControlInitializeResponse,
  type SDKUserMessage,
  type SdkMcpServer,
  type SdkMcpToolDefinition,
  type SdkPluginConfig,
  type SessionKey,
  type SessionPlace,
  type SessionStoreEntry,
  type SettingSource,
  type Settings,
  type Shape,
  type SpawnedProcess,
  type SpawnOptions,
  type StandardSchema,
  SYSTEM_PROMPT_DYNAMIC_BOUNDARY,
  type SystemPromptPreset,
  type ThinkingConfig,
  type ToolAnnotations,
  type ToolContent,
  type ToolExtra,
  type ToolExtras,
  tool,
} from "keel";
import * as z from "zod";

const shape = { city: z.string() } satisfies Shape;
const annotations: ToolAnnotations = { readOnlyHint: true, title: "Look" };
const extras: ToolExtras = { annotations, alwaysLoad: true, searchHint: "weather" };
const handle = async ({ city }: OutputOf<typeof shape>, { signal }: ToolExtra): Promise<CallToolResult> => {
  const content: ToolContent[] = [{ type: "text", text: signal.aborted ? "" : city }];
  return { content, isError: false };
};
const look: SdkMcpToolDefinition<typeof shape> = tool("look", "Looks.", shape, handle, extras);
const any: AnyToolDefinition[] = [look];
export const schema: StandardSchema<string> = z.string();
const own: McpSdkServerConfigWithInstance = createSdkMcpServer({
  name: "own",
  instructions: "Ask.",
  tools: any,
});
export const { instance }: { instance: SdkMcpServer } = createSdkMcpServer({ name: "other" });
export const onWire: McpSdkServerConfig = { type: "sdk", name: "own" };
const local: McpStdioServerConfig = { command: "server", args: [], env: {}, timeout: 1_000 };
const remote: McpHttpServerConfig = { type: "http", url: "https://example.org", headers: {} };

const behavior: PermissionBehavior = "ask";
const destination: PermissionUpdateDestination = "localSettings";
const rules: PermissionRuleValue[] = [{ toolName: "Bash", ruleContent: "ls" }];
export const updates: PermissionUpdate[] = [
  { type: "addRules", rules, behavior, destination },
  { type: "replaceRules", rules, behavior: "deny", destination: "session" },
  { type: "removeRules", rules, behavior: "allow", destination: "cliArg" },
  { type: "setMode", mode: "plan", destination: "userSettings" },
  { type: "addDirectories", directories: ["/tmp"], destination: "projectSettings" },
  { type: "removeDirectories", directories: ["/tmp"], destination },
];

const agent: AgentDefinition = {
  description: "Reviews.",
  prompt: "You review.",
  tools: ["Read"],
  model: "inherit",
  maxTurns: 3,
  background: true,
  permissionMode: "plan",
};
const network: SandboxNetworkConfig = { allowedDomains: ["example.org"], allowLocalBinding: true };
const filesystem: SandboxFilesystemConfig = { allowWrite: ["/tmp"] };
const sandbox: SandboxSettings = { enabled: true, network, filesystem, excludedCommands: ["docker"] };
const plugin: SdkPluginConfig = { type: "local", path: "./plugin", skipMcpDiscovery: true };
const sources: SettingSource[] = ["user"];
const thinking: ThinkingConfig = { type: "enabled", budgetTokens: 1_000, display: "summarized" };
const preset: SystemPromptPreset = { type: "preset", preset: "claude_code", excludeDynamicSections: true };
const elicit: OnElicitation = async ({ message, requestedSchema }: ElicitationRequest, { signal }) => {
  const no: ElicitResult = { action: "decline" };
  return signal.aborted || !requestedSchema ? no : { action: "accept", content: { message } };
};
const accepted: AcceptedOptions = {
  agentProgressSummaries: true,
  debug: true,
  debugFile: "/tmp/debug",
  perTaskStopAffordance: true,
  planModeInstructions: "Plan.",
  pluginDelivery: "argv",
  promptSuggestions: false,
  resumeDropsTurn: "id",
  supportedDialogKinds: [],
  taskBudget: { total: 1 },
  toolConfig: { askUserQuestion: { previewFormat: "markdown" } },
};
const start = ({ command, args }: SpawnOptions): SpawnedProcess => {
  throw new Error(command + args.join());
};

export const options: Options = {
  ...accepted,
  agent: "reviewer",
  agents: { reviewer: agent },
  forwardSubagentText: true,
  includeHookEvents: true,
  isolation: "none",
  executable: "node",
  executableArgs: [],
  pathToClaudeCodeExecutable: "/usr/bin/keel",
  spawnClaudeCodeProcess: start,
  loadTimeoutMs: 1_000,
  managedSettings: { permissions: { deny: ["Bash"] } },
  mcpServers: { own, local, remote },
  onElicitation: elicit,
  plugins: [plugin],
  projectConfigRoot: "/work",
  resumeSessionAt: "id",
  sandbox,
  settingSources: sources,
  skills: "all",
  strictMcpConfig: true,
  systemPrompt: preset,
  thinking,
  toolAliases: { Look: "mcp__own__look" },
  verbatimPrompts: true,
};
export const prompts: Options["systemPrompt"][] = [
  ["always", SYSTEM_PROMPT_DYNAMIC_BOUNDARY, "today"],
  { type: "custom", prompt: "You are brief.", snapshot: false },
];

/** The older way to write a prompt: a message of the interface with every field. */
async function* said(): AsyncGenerator<SDKUserMessage> {
  yield {
    type: "user",
    session_id: "",
    message: { role: "user", content: "hi" },
    parent_tool_use_id: null,
    client_composed: true,
  };
}
const prompt: Prompt = said();

export async function program(): Promise<unknown> {
  const running: Query = query({ prompt, options });
  const controls: QueryControls = running;
  const set: McpSetServersResult = await controls.setMcpServers({ own });
  const states: McpServerStatus[] = await controls.mcpServerStatus();
  await controls.toggleMcpServer("own", false);
  await controls.reconnectMcpServer("own");
  await controls.applyFlagSettings({ model: "haiku" });
  await controls.updateSettings("localSettings", { permissions: { allow: ["Read"] } });
  const how: ReadFileOptions = { maxBytes: 10, encoding: "base64" };
  const file: ReadFileResult | null = await controls.readFile("a.txt", how);
  const described: SDKControlInitializeResponse = await running.reinitialize();
  const models: ModelInfo[] = described.models;
  const agents: AgentInfo[] = described.agents;
  const account: AccountInfo = described.account;
  const usage: SDKControlGetContextUsageResponse = await running.getContextUsage();
  const rewound: RewindFilesResult = await running.rewindFiles("id");
  const { still_queued, cancelled = [] } = await running.interrupt({ cancelQueued: true });
  return [set.errors, states, file?.lossy, models, agents, account, usage, rewound, still_queued, cancelled];
}

export async function settings(): Promise<unknown> {
  const asked: ResolveSettingsOptions = { cwd: "/", settingSources: sources, managedSettings: {} };
  const resolved: ResolvedSettings = await resolveSettings(asked);
  const effective: Settings = resolved.effective;
  return [effective, resolved.sources.map(({ path, values }: ResolvedSource) => [path, values])];
}

export async function sessions(): Promise<unknown> {
  const place: SessionPlace = { dir: "/" };
  const wish: ListSessionsOptions = { ...place, includeWorktrees: true, limit: 3 };
  const [first] = await listSessions(wish);
  const id = first?.sessionId ?? "";
  const [agentId = ""] = await listSubagents(id, place);
  const store = new InMemorySessionStore();
  await importSessionToStore(id, store, { dir: "/", batchSize: 10 });
  const key: SessionKey = { projectKey: "-", sessionId: id };
  const entries: SessionStoreEntry[] = (await store.load(key)) ?? [];
  const names: readonly string[] = [...BUILTIN_TOOL_NAMES, ...Object.keys(LEGACY_TOOL_NAME_ALIASES)];
  return [await getSubagentMessages(id, agentId, { limit: 1 }), entries.length, names];
}
