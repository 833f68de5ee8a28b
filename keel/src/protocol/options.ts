/**
 * The options of a session, as one table: every door is a projection of it. A row's name is its field at the SDK; its
 * flag is what the command line, the executable and the runner call it; its field is what a first line in JSON calls it:
 * the runner's today, the server's and the desktop's to come. What is no plain data stays beside the table, at the SDK
 * alone, in `sdk/options/options.ts`: functions, servers of the program, its own process and store.
 */
import { form, type OptionRow, row } from "./option-row.ts";
import { efforts, permissionModes } from "./settings.ts";

export const toolPresets = ["full", "read-only", "no-bash", "safe-edit", "coordinator"] as const;
export type ToolPreset = (typeof toolPresets)[number];
export const settingSources = ["user", "project", "local"] as const;
export type SettingSource = (typeof settingSources)[number];

const or = (choices: readonly string[]): string =>
  `${choices.slice(0, -1).join(", ")} or ${choices.at(-1) ?? ""}`;
const notInRunner = { at: ["cli", "executable"] } as const;
/** Told by an SDK in its introduction; no flag says it. */
const unflagged = { at: [], introduced: "only" } as const;

const rows = {
  resume: row(
    form.text,
    "-r --resume ID",
    "Go on with this session; without a prompt, with its unfinished turn",
  ),
  continue: row(form.flag, "-c --continue", "Go on with the newest session of this folder"),
  forkSession: row(form.flag, "--fork --fork-session", "With --resume or --continue: go on in a copy"),
  resumeSessionAt: row(
    form.text,
    "--resume-session-at UUID",
    "With --resume: go on from this message",
    notInRunner,
  ),
  sessionId: row(form.text, "--session-id UUID", "The id of the new session"),
  persistSession: row(form.off, "--no-session-persistence", "Keep nothing of the session on disk"),
  title: row(form.text, "-n --title --name TEXT", "The title of the session", { introduced: "only" }),
  model: row(form.text, "-m --model NAME", "A model or an alias (sonnet, opus, haiku)", { setting: "model" }),
  fallbackModel: row(
    form.joined,
    "--fallback-model NAMES",
    "Models to try when the first one is overloaded",
    { setting: "fallbackModel" },
  ),
  effort: row(form.choice(efforts), "--effort LEVEL", `How much work goes into a reply: ${or(efforts)}`),
  thinking: row(form.thinking, "--thinking MODE", "Whether the model thinks first: adaptive or disabled"),
  maxThinkingTokens: row(
    form.count(0),
    "--max-thinking-tokens N",
    "Most tokens of thinking for each reply; 0 for none",
  ),
  maxTurns: row(form.count(1), "--max-turns N", "Most replies of the model to one message; 1 means one", {
    setting: "limits.maxTurns",
  }),
  maxBudgetUsd: row(form.amount, "--max-budget-usd USD", "Stop when the session has cost this much", {
    setting: "limits.maxBudgetUsd",
  }),
  until: row(
    form.text,
    "--until CONDITION",
    'Go on until this holds: "npm test passes", or a question to a model',
  ),
  systemPrompt: row(form.prompt, "--system-prompt TEXT", "In place of Keel's own prompt", {
    introduced: "only",
    file: "--system-prompt-file",
  }),
  appendSystemPrompt: row(form.text, "--append-system-prompt TEXT", "After Keel's own prompt", {
    field: "instructions",
    introduced: "only",
    file: "--append-system-prompt-file",
  }),
  permissionMode: row(form.choice(permissionModes), "--permission-mode MODE", or(permissionModes), {
    setting: "permissions.defaultMode",
  }),
  allowDangerouslySkipPermissions: row(
    form.flag,
    "--allow-dangerously-skip-permissions",
    "Let the mode be set to bypassPermissions later",
  ),
  tools: row(
    form.tools,
    "--tools NAMES",
    "Only these built-in tools; default for all, an empty value for none",
  ),
  toolPreset: row(form.choice(toolPresets), "--tool-preset PRESET", `Built-in tools: ${or(toolPresets)}`),
  coordinator: row(form.flag, "--coordinator", "Give work to agents and do none: --tool-preset coordinator"),
  allowedTools: row(
    form.rules,
    "--allowed-tools --allowedTools RULES",
    "What runs without a question: Read, Bash(git log:*)",
    { setting: "permissions.allow" },
  ),
  disallowedTools: row(
    form.rules,
    "--disallowed-tools --disallowedTools RULES",
    "What never runs; a bare tool is not even offered",
    { setting: "permissions.deny" },
  ),
  permissionPromptToolName: row(
    form.text,
    "--permission-prompt-tool NAME",
    "Who answers what would be asked: a tool of a server, or stdio for an SDK",
    notInRunner,
  ),
  permissionPrompts: row(
    form.choice(["host", "none"]),
    "--permission-prompts WHO",
    "none: whatever would be asked is refused",
    notInRunner,
  ),
  toolAliases: row(form.aliases, "", "A call of the one name runs the tool of the other", unflagged),
  settings: row(form.settings, "--settings SETTINGS", "Settings for this session: JSON, inline or a file"),
  settingSources: row(
    form.names(settingSources),
    "--setting-sources SOURCES",
    "Which settings are read: user, project, local; what is named is trusted",
  ),
  managedSettings: row(
    form.object,
    "--managed-settings SETTINGS",
    "What the host forbids, as JSON: nothing in it allows anything",
  ),
  projectConfigRoot: row(
    form.text,
    "--project-config-root FOLDER",
    "Whose project settings count, in place of the folder to work in",
  ),
  mcpServers: row(
    form.servers,
    "--mcp-config SERVERS",
    "MCP servers for this session: JSON, inline or a file",
    { runner: "--mcp-servers-file --mcp-config SERVERS", field: "mcpServers", setting: "mcpServers" },
  ),
  strictMcpConfig: row(form.flag, "--strict-mcp-config", "Only the MCP servers that are named here"),
  additionalDirectories: row(form.folders, "--add-dir FOLDER", "Another folder to work in", {
    setting: "permissions.additionalDirectories",
  }),
  ide: row(form.flag, "--ide", "Connect to the editor that has this folder open", {
    ...notInRunner,
    setting: "autoConnectIde",
  }),
  agent: row(form.text, "--agent NAME", "Work as this kind of agent"),
  agents: row(form.object, "--agents AGENTS", "Kinds of agents for this session, by name, as JSON", {
    ...notInRunner,
    introduced: "only",
  }),
  plugins: row(form.plugins, "--plugin-dir FOLDER", "A plugin by its folder; naming one is trusting it"),
  skills: row(
    form.namesOrAll,
    "--skills NAMES",
    "The skills that the model is offered, by name; all when left out",
    { introduced: "only" },
  ),
  outputFormat: row(
    form.schema,
    "--json-schema SCHEMA",
    "The form of the answer: JSON Schema, inline or a file",
    { runner: "--structured-output --json-schema SCHEMA", introduced: "also" },
  ),
  enableFileCheckpointing: row(
    form.flag,
    "--enable-checkpointing",
    "Keep files before they change, so that a turn can be taken back",
    { at: ["runner"], setting: "checkpoints.enabled" },
  ),
  includePartialMessages: row(
    form.flag,
    "--include-partial-messages",
    "With stream-json: also what arrives piece by piece",
    notInRunner,
  ),
  includeHookEvents: row(
    form.flag,
    "--include-hook-events",
    "With stream-json: also when hooks run that are commands or addresses",
    notInRunner,
  ),
  forwardSubagentText: row(form.flag, "", "Also tell what agents say and think", unflagged),
  betas: row(form.rules, "--betas NAMES", "Names of what the provider tries out, sent with every request"),
} as const;

export type OptionName = keyof typeof rows;
export const sessionOptions: Readonly<Record<OptionName, OptionRow>> = rows;

/** The options that were given, as the SDK takes them. */
export type SessionOptions = {
  [Name in OptionName]?: NonNullable<(typeof rows)[Name]["form"]["of"]> | undefined;
};

/** The rows with their names, in the order of the table. */
export const rowsOf = (): [OptionName, OptionRow][] =>
  Object.entries(sessionOptions) as [OptionName, OptionRow][];
