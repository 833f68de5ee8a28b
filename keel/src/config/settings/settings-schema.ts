/** Every setting that a file may hold: its form, what it means, and whether a project may have a say in it. */
import * as z from "zod/mini";
import type { JsonObject } from "../../kernel/json.ts";
import { schemaOf } from "../../kernel/schema.ts";
import { effortSchema } from "../../protocol/settings.ts";
import { modelInfoSchema } from "../../protocol/usage.ts";
import { groups } from "./group-settings.ts";
import {
  amount,
  audit,
  autoMode,
  costAlarms,
  count,
  diagnostics,
  formatter,
  permissions,
  positive,
  provider,
  sandbox,
  setting,
  telemetry,
  texts,
} from "./permission-settings.ts";

/** A hook as it is written: what a kind of hook needs beside its type is checked where hooks are run. */
const hook = z.looseObject({
  type: z.string().check(z.describe("What kind it is: `command`, `http`, `prompt` …")),
  command: setting(z.string(), "The command that runs."),
  timeout: setting(amount, "Seconds until it is stopped."),
  most: setting(positive, "Of the type `rate`: how many calls or inputs there may be in `seconds`."),
  seconds: setting(amount, "Of the type `rate`: 60 if left out."),
});

const abilities = modelInfoSchema.shape.abilities.shape;

const model = z.object({
  ...z.partial(modelInfoSchema).shape,
  id: z.string(),
  abilities: z.optional(
    z.object({
      tools: z.exactOptional(abilities.tools),
      images: z.exactOptional(abilities.images),
      thinking: z.exactOptional(abilities.thinking),
      cache: z.exactOptional(abilities.cache),
    }),
  ),
});

const hookGroup = z.looseObject({
  matcher: setting(z.string(), "Which tools it is for; all when left out."),
  hooks: z.array(hook),
});

const mcp = z.object({
  startMs: setting(count, "How long the first request of a session waits for servers; 5000 if left out."),
  connectMs: setting(positive, "How long a server may take to start; 30000 if left out."),
  callMs: setting(positive, "How long a call may take without a sign of life; 300000 if left out."),
  disabled: setting(texts, "Servers that are known but not started, by name."),
  sampling: setting(
    z.enum(["ask", "off"]),
    "Whether servers may ask the model something; each time you are asked first.",
  ),
});

const limits = z.object({
  maxTurns: setting(positive, "Most replies of the model to one input."),
  maxBudgetUsd: setting(amount, "Stop when a session has cost this much."),
  maxTokens: setting(count, "Stop when a session and its agents have used this many tokens."),
  maxMinutes: setting(amount, "Stop when a session has been open for this long."),
  maxProcesses: setting(count, "Commands that run at once, agents included."),
  maxAgents: setting(count, "Agents that run at once."),
  maxAgentDepth: setting(count, "How deep agents may start agents; 0 for none at all."),
  maxAgentsUnasked: setting(count, "Agents that one turn may start before you are asked."),
  maxHeapMb: setting(positive, "Heap of the process from which on nothing new is taken."),
  maxRetries: setting(count, "Tries after a failure that cost nothing yet."),
  maxStreamRetries: setting(count, "Tries after a failure that may have cost a reply."),
});

const checkpoints = z.object({
  enabled: setting(z.boolean(), "Whether files are kept as they were before a change."),
  mostFiles: setting(count, "Most files that are looked at before a command."),
  mostFileBytes: setting(count, "A larger file is not kept."),
  mostBytes: setting(count, "Most bytes that are kept before a command."),
  quotaBytes: setting(count, "Most bytes on disk; the oldest go first."),
  exclude: setting(
    texts,
    "Files that are never copied, as paths in rules are written; those that look like secrets never are.",
  ),
});

const search = z.object({
  provider: setting(z.enum(["brave", "searxng"]), "Who searches the web."),
  url: setting(z.string(), "Where your own SearXNG stands."),
  key: setting(z.string(), "The key; better kept in the environment."),
});

const web = z.object({
  allowHosts: setting(texts, "Hosts of private networks from which pages may be read."),
});

const compaction = z.object({
  strategy: setting(
    z.enum(["recent", "notes"]),
    "`recent`: the newest turns stay as they are, the default. `notes`: nothing but notes stays.",
  ),
});

const agentSdk = z.object({
  folder: setting(z.string(), "Where its package stands, where it is not installed in the folder itself."),
  executable: setting(z.string(), "The program that it drives, in place of its own."),
});

const acpAgent = z.object({
  command: z.string().check(z.minLength(1), z.describe("The program that speaks the protocol.")),
  args: setting(texts, "What it is started with."),
  env: setting(z.record(z.string(), z.string()), "What it finds in its environment besides."),
  keys: setting(z.boolean(), "It sees the keys of providers in the server's environment too."),
});

const embedder = z.object({
  kind: z.enum(["local", "ollama", "voyage", "openai"]),
  model: setting(z.string(), "The model; a usual one of the kind if left out."),
  baseUrl: setting(z.string(), "Where texts are sent; the usual address of the kind if left out."),
  keyVariable: setting(z.string(), "The variable of your environment that holds the key."),
});

const memory = z.object({
  recall: setting(
    z.enum(["off", "ask", "on"]),
    "Whether what earlier conversations said is found again and told to the model: `off` if left out; `ask` shows it to you first.",
  ),
  scope: setting(
    z.enum(["project", "person"]),
    "How far that reaches: conversations of this project, the default, or all of yours.",
  ),
  embedder: setting(
    embedder,
    "Who finds by meaning what words do not find: a `local` model, or a server; nobody if left out.",
  ),
});

const terminal = z.object({
  keys: setting(
    z.record(z.string(), z.union([z.string(), texts])),
    'Keys of your own by the name of the action: `{ "undo": "ctrl+z" }`; an empty list takes them away.',
  ),
  editing: setting(z.enum(["readline", "vi"]), "How the input is edited; `readline` if left out."),
  whileRunning: setting(
    z.enum(["steer", "queue"]),
    "What Enter does while a turn runs: the words join it, or wait for its end; `steer` if left out.",
  ),
  wrap: setting(
    z.enum(["words", "terminal"]),
    "Who breaks long lines of text: Keel, between words, or the terminal, so that a copy has no blanks added.",
  ),
  thinking: setting(z.enum(["shown", "hidden"]), "Whether the model's thinking is printed."),
  notify: setting(
    z.enum(["bell", "desktop", "off"]),
    "What happens when Keel asks or is done and nobody looks; `bell` if left out.",
  ),
  title: setting(z.boolean(), "`false`: the title of the window is left alone."),
  plain: setting(z.boolean(), "`true`: plain lines in place of a screen, for who listens to them."),
  statusLine: setting(
    z.object({ command: z.string() }),
    "A command whose first line stands in place of the status line; it gets facts as JSON.",
  ),
});

export const settingsSchema = z.object({
  model: setting(z.string(), "The model that is asked, or an alias of one."),
  effortLevel: setting(
    effortSchema,
    "How much work the model puts into an answer, where nobody says it for the session; what a model does not take is told.",
  ),
  fallbackModel: setting(
    z.union([z.string(), texts]),
    "One model or several, tried in this order when the model is overloaded.",
  ),
  models: setting(z.array(model), "Models that Keel does not know, or knows otherwise."),
  modelAliases: setting(
    z.record(z.string(), z.string()),
    'Names of your own for models: `{ "fast": "haiku" }`.',
  ),
  providers: setting(
    z.record(z.string(), provider),
    "By the provider's id, such as `anthropic` or `openai`.",
  ),
  permissions: setting(permissions, "What may run. Over all sources deny beats ask, and ask beats allow."),
  autoMode: setting(autoMode, "What the mode `auto` goes by where rules leave a call open."),
  env: setting(
    z.record(z.string(), z.string()),
    "Variables for commands, and from you also for Keel itself.",
  ),
  hooks: setting(
    z.record(z.string(), z.array(hookGroup)),
    "By the name of the point, such as `PreToolUse`: what runs there.",
  ),
  mcpServers: setting(z.record(z.string(), z.looseObject({})), "Servers of tools, by a name of your own."),
  mcp: setting(mcp, "How servers of tools are dealt with."),
  outputStyle: setting(
    z.string(),
    "How answers are written: `default`, `brief`, `teaching`, or a style of your own.",
  ),
  limits: setting(limits, "What bounds a turn."),
  costAlarms: setting(
    costAlarms,
    "When you are told what you have spent. Nothing is stopped: `limits` do that.",
  ),
  audit: setting(audit, "A record of what was asked, answered, allowed, refused and changed."),
  telemetry: setting(telemetry, "Where OpenTelemetry hears of sessions. Nothing is sent if left out."),
  autoMemoryEnabled: setting(z.boolean(), "`false`: no notes are kept over sessions, and none are read."),
  memory: setting(memory, "What earlier conversations said, found again."),
  autoCompactEnabled: setting(
    z.boolean(),
    "`false`: a long conversation is shortened only when you ask for it, or when it must be.",
  ),
  autoCompactWindow: setting(
    count.check(z.minimum(1_000)),
    "Tokens that a conversation may have, where the model would take more.",
  ),
  compaction: setting(compaction, "How a long conversation is shortened."),
  guard: setting(
    z.enum(["on", "off"]),
    "`off`: commands run without the namespace that ends whatever they started; needed for setuid programs.",
  ),
  agentSdk: setting(agentSdk, "The official SDK, for agents of a workspace that it drives (`engine: sdk`)."),
  acpAgents: setting(
    z.record(z.string(), acpAgent),
    "Agents of other people for workspaces (`engine: acp`), each by a name of yours.",
  ),
  checkpoints: setting(checkpoints, "What `rewind` can restore."),
  diagnostics: setting(
    z.array(diagnostics),
    "Who says what an edit broke: language servers and commands that check.",
  ),
  terminalTool: setting(
    z.boolean(),
    "`true`: the model has the tool Terminal, for interactive programs; you are asked about what it types.",
  ),
  programTool: setting(
    z.boolean(),
    "`true`: the model has the tool RunProgram, for small programs over its other tools, where the kernel confines them.",
  ),
  formatters: setting(
    z.array(formatter),
    "Who brings a file into form after a change of it; the first that is for it.",
  ),
  sandbox: setting(
    sandbox,
    "The sandbox of commands; off if left out. A project may ask for it and make it stricter, and nothing else.",
  ),
  store: setting(
    z.enum(["jsonl", "sqlite", "postgres"]),
    "How new sessions are kept: a file of JSON lines for each, the default, or all in one SQLite database, or in a PostgreSQL database that machines share (`storeUrl` says where); `keel sessions move` moves those that are there.",
  ),
  storeUrl: setting(
    z.string(),
    "Where the PostgreSQL database is: `postgres://user@host/name`; `KEEL_STORE_URL` goes before it. Its sessions are found wherever new ones are kept. A password belongs into `~/.pgpass` or the environment.",
  ),
  copyTranscripts: setting(
    z.boolean(),
    "`true`: each session is also written where programs of the official interface look for transcripts; left out, where a host says by `CLAUDE_CODE_ENTRYPOINT` that it is one.",
  ),
  autoConnectIde: setting(
    z.boolean(),
    "`true`: sessions in which somebody answers connect to the editor that has the folder open, as with `--ide`.",
  ),
  sessionMessages: setting(
    z.enum(["ask", "allow", "refuse"]),
    "What becomes of a message that another session of yours sends to one: you are asked, if left out.",
  ),
  terminal: setting(terminal, "The screen of `keel` on a terminal."),
  groups: setting(groups, "Chat groups with agents of their own."),
  search: setting(search, "The search of the web."),
  web: setting(web, "The reading of web pages."),
});

export type KeelSettings = z.infer<typeof settingsSchema>;

/** What even a trusted project has no say in, and why. A path covers what is under it. */
export const personOnly: Readonly<Record<string, string>> = {
  providers: "it says where your key goes",
  autoMode: "it says what runs without a question",
  "permissions.protectedPaths": "it takes away questions that protect you",
  memory: "it says what of your conversations is told, and where they are sent",
  limits: "it says what you pay",
  effortLevel: "it says what you pay",
  costAlarms: "it says when you hear what you pay",
  audit: "it says what is written down of what you decide",
  telemetry: "it says who hears of your sessions",
  mcp: "it says how long you wait and what servers may do",
  guard: "it says what becomes of processes when Keel ends",
  terminalTool: "it gives the model a terminal",
  programTool: "it gives the model programs to run",
  formatters: "it names programs that run after every change",
  agentSdk: "it names code that runs in the server",
  acpAgents: "it names programs that the server starts",
  checkpoints: "it says what can be restored",
  search: "it says where your key and your questions go",
  terminal: "it is your own screen, and may run a command of yours",
  web: "it opens your private network",
  "sandbox.credentials": "it says where your keys go",
  store: "it says where your conversations are written",
  storeUrl: "it says where your conversations are written",
  copyTranscripts: "it says where your conversations are written",
  groups: "it says which folders and services agents of groups reach",
  sessionMessages: "it says who may tell your sessions something",
  autoConnectIde: "it shows what Keel would change to another program",
};

/** Lists to which every source adds. Any other list is one value. A star stands for any name. */
export const addingLists: readonly string[] = [
  "models",
  "permissions.allow",
  "permissions.ask",
  "permissions.deny",
  "permissions.additionalDirectories",
  "autoMode.allow",
  "autoMode.soft_deny",
  "autoMode.hard_deny",
  "autoMode.environment",
  "hooks.*",
  "checkpoints.exclude",
  "diagnostics",
  "web.allowHosts",
  "sandbox.excludedCommands",
  "sandbox.network.allowedDomains",
  "sandbox.network.deniedDomains",
  "sandbox.network.allowUnixSockets",
  "sandbox.filesystem.allowWrite",
  "sandbox.filesystem.denyWrite",
  "sandbox.filesystem.denyRead",
  "sandbox.filesystem.allowRead",
];

/** Objects that are one value each, not joined field by field. */
export const wholeObjects: readonly string[] = ["mcpServers.*"];

/** Values that are never shown. */
export const secretValues: readonly string[] = ["providers.*.key", "search.key", "telemetry.headers"];

/** As editors and other programs read it. */
export function settingsJsonSchema(): JsonObject {
  const json = schemaOf(settingsSchema).json;
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Settings of Keel",
    ...json,
    additionalProperties: true,
  };
}
