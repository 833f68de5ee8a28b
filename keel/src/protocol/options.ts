/**
 * The options of a session, as one table: every door is a projection of it. A row's name is its field at the SDK; its
 * flag is what the command line, the executable and the runner call it; its field is what a first line in JSON calls it:
 * the runner's today, the server's and the desktop's to come. What is no plain data stays beside the table, at the SDK
 * alone, in `sdk/options/options.ts`: functions, servers of the program, its own process and store.
 */
import { form, type OptionForm, type OptionRow } from "./option-row.ts";
import { efforts, type PermissionMode, permissionModes, type SessionSettings } from "./settings.ts";

export const toolPresets = ["full", "read-only", "no-bash", "safe-edit", "coordinator"] as const;
export type ToolPreset = (typeof toolPresets)[number];
export const settingSources = ["user", "project", "local"] as const;
export type SettingSource = (typeof settingSources)[number];

const or = (choices: readonly string[]): string =>
  `${choices.slice(0, -1).join(", ")} or ${choices.at(-1) ?? ""}`;
const inPrograms = { at: ["executable"] } as const;
const nowhere = { at: [] } as const;

const rows = {
  resume: {
    form: form.text,
    flag: "resume ID",
    short: "r",
    says: "Go on with this session; without a prompt, with its unfinished turn",
  },
  continue: {
    form: form.flag,
    flag: "continue",
    short: "c",
    says: "Go on with the newest session of this folder",
  },
  forkSession: {
    form: form.flag,
    flag: "fork",
    aliases: ["fork-session"],
    says: "With --resume or --continue: go on in a copy",
  },
  resumeSessionAt: {
    ...inPrograms,
    form: form.text,
    flag: "resume-session-at UUID",
    says: "With --resume: go on from this message, in a copy",
  },
  sessionId: { form: form.text, flag: "session-id UUID", says: "The id of the new session" },
  persistSession: {
    form: form.off,
    flag: "no-session-persistence",
    says: "Keep nothing of the session on disk",
  },
  title: { form: form.text, flag: "title TEXT", introduced: "only", says: "The title of the session" },
  model: {
    form: form.text,
    flag: "model NAME",
    short: "m",
    setting: "model",
    says: "A model or an alias (sonnet, opus, haiku)",
  },
  fallbackModel: {
    form: form.joined,
    flag: "fallback-model NAMES",
    setting: "fallbackModel",
    says: "Models to try when the first one is overloaded",
  },
  effort: {
    form: form.choice<NonNullable<SessionSettings["effort"]>>(efforts),
    flag: "effort LEVEL",
    says: `How much the model works on a reply: ${or(efforts)}`,
  },
  thinking: {
    form: form.thinking,
    flag: "thinking MODE",
    says: "Whether the model thinks before it answers: adaptive or disabled",
  },
  maxThinkingTokens: {
    form: form.count(0),
    flag: "max-thinking-tokens N",
    says: "Most tokens of thinking for each reply; 0 for none",
  },
  maxTurns: {
    form: form.count(1),
    flag: "max-turns N",
    setting: "limits.maxTurns",
    says: "Most replies of the model to one message; 1 means one",
  },
  maxBudgetUsd: {
    form: form.amount,
    flag: "max-budget-usd USD",
    setting: "limits.maxBudgetUsd",
    says: "Stop when the session has cost this much",
  },
  systemPrompt: {
    form: form.prompt,
    flag: "system-prompt TEXT",
    introduced: "only",
    says: "In place of Keel's own prompt",
  },
  appendSystemPrompt: {
    form: form.text,
    flag: "append-system-prompt TEXT",
    field: "instructions",
    introduced: "only",
    says: "After Keel's own prompt",
  },
  permissionMode: {
    form: form.choice<PermissionMode>(permissionModes),
    flag: "permission-mode MODE",
    setting: "permissions.defaultMode",
    says: or(permissionModes),
  },
  allowDangerouslySkipPermissions: {
    form: form.flag,
    flag: "allow-dangerously-skip-permissions",
    says: "Let --permission-mode bypassPermissions be set",
  },
  tools: {
    form: form.tools,
    flag: "tools NAMES",
    says: "Only these built-in tools; default for all, an empty value for none",
  },
  toolPreset: {
    form: form.choice<ToolPreset>(toolPresets),
    flag: "tool-preset PRESET",
    says: `Built-in tools: ${or(toolPresets)}`,
  },
  allowedTools: {
    form: form.rules,
    flag: "allowed-tools RULES",
    aliases: ["allowedTools"],
    setting: "permissions.allow",
    says: "What runs without a question: Read, Bash(git log:*)",
  },
  disallowedTools: {
    form: form.rules,
    flag: "disallowed-tools RULES",
    aliases: ["disallowedTools"],
    setting: "permissions.deny",
    says: "What never runs; a bare tool is not even offered",
  },
  permissionPromptToolName: {
    ...inPrograms,
    form: form.text,
    flag: "permission-prompt-tool NAME",
    says: "Who answers what would be asked: stdio for the SDK, or a tool of a server",
  },
  permissionPrompts: {
    ...inPrograms,
    form: form.choice(["host", "none"]),
    flag: "permission-prompts WHO",
    says: "none: whatever would be asked is refused",
  },
  toolAliases: {
    ...nowhere,
    form: form.aliases,
    introduced: "only",
    says: "A call of the one name runs the tool of the other",
  },
  settings: {
    form: form.settings,
    flag: "settings SETTINGS",
    says: "Settings for this session: JSON, inline or a file",
  },
  settingSources: {
    form: form.names<SettingSource>(settingSources),
    flag: "setting-sources SOURCES",
    says: "Which settings are read: user, project, local; what is named is trusted",
  },
  managedSettings: {
    form: form.object,
    flag: "managed-settings SETTINGS",
    at: ["executable", "runner"],
    says: "What the host forbids, as JSON: nothing in it allows anything",
  },
  projectConfigRoot: {
    form: form.text,
    flag: "project-config-root FOLDER",
    says: "Whose project settings count, in place of the folder to work in",
  },
  mcpServers: {
    form: form.servers,
    flag: "mcp-config SERVERS",
    flags: { runner: "mcp-servers-file FILE" },
    field: "mcpServers",
    setting: "mcpServers",
    says: "MCP servers for this session: JSON, inline or a file",
  },
  strictMcpConfig: {
    form: form.flag,
    flag: "strict-mcp-config",
    says: "Only the MCP servers that are named here",
  },
  additionalDirectories: {
    form: form.folders,
    flag: "add-dir FOLDER",
    setting: "permissions.additionalDirectories",
    says: "Another folder to work in",
  },
  agent: { form: form.text, flag: "agent NAME", says: "Work as this kind of agent" },
  agents: {
    ...nowhere,
    form: form.object,
    introduced: "only",
    says: "Kinds of agents for this session, by name",
  },
  plugins: {
    form: form.plugins,
    flag: "plugin-dir FOLDER",
    says: "A plugin by its folder; naming one is trusting it",
  },
  skills: {
    form: form.namesOrAll,
    flag: "skills NAMES",
    introduced: "only",
    says: "The skills that the model is offered, by name; all when left out",
  },
  outputFormat: {
    form: form.schema,
    flag: "json-schema SCHEMA",
    flags: { runner: "structured-output JSON" },
    introduced: "also",
    says: "The form of the answer: JSON Schema, inline or a file",
  },
  enableFileCheckpointing: {
    form: form.flag,
    flag: "enable-checkpointing",
    at: ["runner"],
    setting: "checkpoints.enabled",
    says: "Keep files before they change, so that a turn can be taken back",
  },
  includePartialMessages: {
    form: form.flag,
    flag: "include-partial-messages",
    at: ["cli", "executable"],
    says: "With stream-json: also what arrives piece by piece",
  },
  includeHookEvents: {
    ...inPrograms,
    form: form.flag,
    flag: "include-hook-events",
    says: "Also tell when hooks run that are commands or addresses",
  },
  forwardSubagentText: {
    ...nowhere,
    form: form.flag,
    introduced: "only",
    says: "Also tell what agents say and think",
  },
  betas: {
    form: form.rules,
    flag: "betas NAMES",
    at: ["executable", "runner"],
    says: "Taken for compatibility, and without effect",
  },
} as const satisfies Readonly<Record<string, OptionRow>>;

export type OptionName = keyof typeof rows;
export const sessionOptions: Readonly<Record<OptionName, OptionRow>> = rows;

type ValueIn<Row> = Row extends { readonly form: OptionForm<infer Value> } ? Value : never;
/** The options that were given, as the SDK takes them. */
export type SessionOptions = { [Name in OptionName]?: ValueIn<(typeof rows)[Name]> | undefined };

/** The rows with their names, in the order of the table. */
export const rowsOf = (): [OptionName, OptionRow][] =>
  Object.entries(sessionOptions) as [OptionName, OptionRow][];
