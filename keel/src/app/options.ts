/** What a host may say about the session that it wants. Everything from the outside arrives here. */
import type { EnvironmentVariables } from "../config/settings/paths.ts";
import type { KeelSettings } from "../config/settings/settings-schema.ts";
import type { CondenseStrategy } from "../core/context/condense.ts";
import type { Hook } from "../hooks/run.ts";
import { fault } from "../kernel/fault.ts";
import { isObject, type JsonObject } from "../kernel/json.ts";
import type { AgentProfile } from "../ports/agent-definition.ts";
import type { SessionPeers } from "../ports/agents.ts";
import type { Model } from "../ports/model.ts";
import type { McpServerOptions } from "../protocol/mcp.ts";
import { type OptionName, type SessionOptions, toolPresets } from "../protocol/options.ts";
import type { ThinkingMode } from "../protocol/settings.ts";
import type { ToolChoice } from "../tools/presets.ts";
import type { EditorBuffers } from "../workspace/files/buffers.ts";
import type { EditorTerminals } from "../workspace/processes/editor-terminals.ts";
import type { OwnTool } from "./compose/own-tools.ts";
import type { SessionChoice } from "./sessions/which-session.ts";

/** Those of the table that `openOptionsOf` says in other words; all others are as they were given. */
type Translated =
  | "resume"
  | "continue"
  | "forkSession"
  | "sessionId"
  | "persistSession"
  | "fallbackModel"
  | "thinking"
  | "maxThinkingTokens"
  | "systemPrompt"
  | "tools"
  | "toolPreset"
  | "coordinator"
  | "allowDangerouslySkipPermissions"
  | "mcpServers"
  | "additionalDirectories"
  | "agents"
  | "plugins"
  | "outputFormat"
  | "enableFileCheckpointing";

type AsGiven = {
  readonly [Name in Exclude<OptionName, Translated>]?: Immutable<SessionOptions[Name]>;
};
type Immutable<T> = T extends (infer Item)[] ? readonly Item[] : T;

/** What only a host knows. */
export type HostOptions = {
  /** Keel's own version, for the log. */
  readonly version: string;
  readonly cwd: string;
  /** The user's environment: keys, base URL, proxies, and what commands inherit. */
  readonly env: EnvironmentVariables;
  /** In place of `KEEL_HOME` and `~/.keel`. */
  readonly home?: string | undefined;
  /** What becomes of a turn that an earlier process left unfinished; it goes on when left out. */
  readonly unfinished?: "continue" | "lost" | undefined;
  /** Whether the host answers asks. Tools that only ask are not offered where nobody does, which is meant when left out. */
  readonly asks?: "answered" | "refused" | undefined;
  /** Tools of the program that opens the session. */
  readonly ownTools?: readonly OwnTool[] | undefined;
  /** MCP servers, by a name of the host's own. */
  readonly mcpServers?: Readonly<Record<string, McpServerOptions>> | undefined;
  /** `asked`: MCP servers are started by `mcp.start()` of the session, and not while it is opened. */
  readonly mcpStart?: "asked" | undefined;
  /** What an editor has open counts in place of the disk, and changes of files go through it. */
  readonly buffers?: EditorBuffers | undefined;
  /** Sessions elsewhere that this one may send words to. */
  readonly peers?: SessionPeers | undefined;
  /** A person is there who can be asked whether a message of another session is taken; otherwise none is, unless settings say so. */
  readonly letters?: "asked" | undefined;
  /** Commands that are waited for run in terminals of an editor, where they are seen as they run. */
  readonly terminals?: EditorTerminals | undefined;
  /** What answers in place of every model, so that neither a key nor a provider is looked for. */
  readonly answers?: Model | undefined;
  /** Functions of the program that are called at points of the session. */
  readonly hooks?: readonly Hook[] | undefined;
  /** Kinds of agents of the program, beside those of files and our own. */
  readonly agents?: readonly AgentProfile[] | undefined;
  /** Keep files before they change, so that a turn can be taken back; off when left out. */
  readonly checkpoints?: "on" | "off" | undefined;
  /** Notes that are kept over sessions, and the tools for them; off when left out. */
  readonly memory?: "on" | "off" | undefined;
  /** How a long conversation is shortened, in place of what the settings say. */
  readonly condense?: CondenseStrategy | undefined;
  /** A wish to confine commands, which Keel cannot: it is warned about, or refuses the start. */
  readonly sandbox?: KeelSettings["sandbox"];
};

export type OpenOptions = AsGiven &
  HostOptions & {
    /** A new session when left out. */
    readonly which?: SessionChoice | undefined;
    readonly persist?: "disk" | "memory" | undefined;
    /** Tried in this order when the model is overloaded. */
    readonly fallbackModels?: readonly string[] | undefined;
    readonly thinking?: ThinkingMode | undefined;
    /** `allowed` is the word of the person who starts Keel; without it `bypassPermissions` is refused, whoever asks. */
    readonly bypass?: "allowed" | "refused" | undefined;
    /** What is offered at all: a preset, or built-in tools by name; everything when left out. */
    readonly tools?: ToolChoice | undefined;
    /** Further folders to work in. */
    readonly addDirs?: readonly string[] | undefined;
    readonly systemPrompt?: string | undefined;
    /** `no`: the conversation is told of the folder, so that the prompt is the same everywhere. */
    readonly placeInPrompt?: "no" | undefined;
    /** Folders of plugins; naming one is trusting it. */
    readonly plugins?: readonly string[] | undefined;
    /** Those among them whose servers are not started. */
    readonly pluginsWithoutServers?: readonly string[] | undefined;
    /** The form of the answer; the turn ends with it. */
    readonly jsonSchema?: JsonObject | undefined;
  };

export const defaultThinkingTokens = 10_000;

/** From the table's options to those of a session. Throws `usage` for what does not fit together. */
export function openOptionsOf(given: SessionOptions, host: HostOptions): OpenOptions {
  const { resume, continue: newest, forkSession, sessionId, persistSession, ...session } = given;
  const { fallbackModel, thinking, maxThinkingTokens, systemPrompt, outputFormat, ...model } = session;
  const { tools, toolPreset, coordinator, allowDangerouslySkipPermissions, ...rights } = model;
  const { additionalDirectories, agents, plugins, enableFileCheckpointing, mcpServers, ...asGiven } = rights;
  const fallbackModels = fallbackModel?.split(",").flatMap((name) => name.trim() || []);
  return {
    ...asGiven,
    checkpoints: enableFileCheckpointing ? "on" : "off",
    ...host,
    which: whichOf({ resume, continue: newest, forkSession, sessionId }),
    persist: persistSession === false ? "memory" : "disk",
    fallbackModels,
    thinking: thinkingOf({
      thinking,
      maxThinkingTokens: maxThinkingTokens ?? tokensIn(host.env["MAX_THINKING_TOKENS"]),
    }),
    bypass: allowDangerouslySkipPermissions ? "allowed" : "refused",
    tools: toolsOf({ tools, toolPreset, coordinator }),
    addDirs: additionalDirectories,
    plugins: plugins?.map(({ path }) => path),
    pluginsWithoutServers: plugins?.flatMap(({ path, skipMcpDiscovery }) => (skipMcpDiscovery ? [path] : [])),
    jsonSchema: outputFormat && schemaOf(outputFormat.schema),
    ...promptOf(given),
  };
}

/** For those who give options as flags: whoever types them is told more than a program. Throws `usage`. */
export function mustFit({
  resume,
  continue: newest,
  forkSession,
  sessionId,
  tools,
  toolPreset,
  coordinator,
}: SessionOptions) {
  const goesOn = resume !== undefined || newest === true;
  const wrong =
    resume !== undefined && newest
      ? "--resume names a session and --continue the newest one: give one of them."
      : forkSession && !goesOn
        ? "--fork needs --resume or --continue."
        : goesOn && sessionId !== undefined && !forkSession
          ? "--session-id names a new session: with --resume or --continue it needs --fork."
          : tools && toolPreset
            ? "--tools names tools and --tool-preset a set of them: give one of them."
            : coordinator && (tools ?? toolPreset ?? "coordinator") !== "coordinator"
              ? "A coordinator has tools of its own: leave --tools and --tool-preset out."
              : undefined;
  if (wrong !== undefined) throw fault("usage", { reason: wrong });
}

function whichOf({ resume, continue: newest, forkSession, sessionId }: SessionOptions): SessionChoice {
  if (resume !== undefined && newest) throw fault("usage", { reason: "Give resume or continue, not both." });
  const from = resume !== undefined ? { session: resume } : newest ? ("newest" as const) : undefined;
  if (from === undefined) return { kind: "new", id: sessionId };
  return forkSession ? { kind: "fork", from, id: sessionId } : { kind: "resume", from };
}

function thinkingOf({ thinking, maxThinkingTokens }: SessionOptions): ThinkingMode | undefined {
  switch (thinking?.type) {
    case "adaptive":
      return { kind: "adaptive" };
    case "enabled":
      return { kind: "budget", tokens: thinking.budgetTokens ?? defaultThinkingTokens };
    case "disabled":
      return { kind: "off" };
    case undefined:
      return maxThinkingTokens === undefined ? undefined : thinkingWith(maxThinkingTokens);
  }
}

/** Of a variable that other agents have too; what is no number says nothing. */
const tokensIn = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;

export const thinkingWith = (tokens: number): ThinkingMode =>
  tokens > 0 ? { kind: "budget", tokens } : { kind: "off" };

/** A preset of another program's stands for everything. */
function toolsOf({ tools, toolPreset, coordinator }: SessionOptions): ToolChoice | undefined {
  if (tools && toolPreset) throw fault("usage", { reason: "Give tools or toolPreset, not both." });
  if (coordinator) {
    if ((tools ?? toolPreset ?? "coordinator") !== "coordinator")
      throw fault("usage", { reason: "A coordinator has tools of its own: leave tools and toolPreset out." });
    return "coordinator";
  }
  if (!tools) return toolPreset;
  if (Array.isArray(tools)) return tools;
  return toolPresets.find((name) => name === tools.preset) ?? "full";
}

function promptOf({
  systemPrompt: prompt,
}: SessionOptions): Pick<OpenOptions, "systemPrompt" | "appendSystemPrompt" | "placeInPrompt"> {
  if (prompt === undefined) return {};
  if (typeof prompt === "string" || Array.isArray(prompt)) return { systemPrompt: whole(prompt) };
  if ("prompt" in prompt) return { systemPrompt: whole(prompt.prompt) };
  const { append, excludeDynamicSections } = prompt;
  return {
    ...(append === undefined ? {} : { appendSystemPrompt: append }),
    ...(excludeDynamicSections ? { placeInPrompt: "no" as const } : {}),
  };
}

const whole = (prompt: string | readonly string[]): string => [prompt].flat().join("\n\n");

function schemaOf(schema: unknown): JsonObject {
  if (!isObject(schema)) throw fault("usage", { reason: "outputFormat.schema must be a JSON Schema." });
  return schema as JsonObject;
}
