/** What a host may say about the session that it wants. Everything from the outside arrives here. */
import type { ChosenSource } from "../config/settings/layers.ts";
import type { EnvironmentVariables } from "../config/settings/paths.ts";
import type { CondenseStrategy } from "../core/context/condense.ts";
import type { Hook } from "../hooks/run.ts";
import type { JsonObject } from "../kernel/json.ts";
import type { AgentProfile } from "../ports/agent-definition.ts";
import type { McpServerOptions } from "../protocol/mcp.ts";
import type { PermissionMode, SessionSettings, ThinkingMode } from "../protocol/settings.ts";
import type { ToolChoice } from "../tools/presets.ts";
import type { LimitOptions } from "./compose/limits.ts";
import type { OwnTool } from "./compose/own-tools.ts";
import type { SessionChoice } from "./sessions/which-session.ts";

export type OpenOptions = LimitOptions & {
  /** Keel's own version, for the log. */
  readonly version: string;
  readonly cwd: string;
  /** The user's environment: keys, base URL, proxies, and what commands inherit. */
  readonly env: EnvironmentVariables;
  /** In place of `KEEL_HOME` and `~/.keel`. */
  readonly home?: string | undefined;
  /** Settings for this session: an object, or the path of a file. */
  readonly settings?: string | Record<string, unknown> | undefined;
  /** Which settings are read; all when left out. Naming `project` or `local` trusts it for this session. */
  readonly settingSources?: readonly ChosenSource[] | undefined;
  /** What the program around Keel forbids, as settings; of it only what makes things stricter counts. */
  readonly forbidden?: Record<string, unknown> | undefined;
  /** The folder whose project settings count, in place of `cwd`. */
  readonly projectRoot?: string | undefined;
  /** A new session when left out. */
  readonly which?: SessionChoice | undefined;
  /** What becomes of a turn that an earlier process left unfinished; it goes on when left out. */
  readonly unfinished?: "continue" | "lost" | undefined;
  readonly persist?: "disk" | "memory" | undefined;
  readonly model?: string | undefined;
  /** Tried in this order when the model is overloaded. */
  readonly fallbackModels?: readonly string[] | undefined;
  readonly thinking?: ThinkingMode | undefined;
  readonly effort?: SessionSettings["effort"];
  readonly title?: string | undefined;
  readonly permissionMode?: PermissionMode | undefined;
  /** `allowed` is the word of the person who starts Keel; without it `bypassPermissions` is refused, whoever asks. */
  readonly bypass?: "allowed" | "refused" | undefined;
  /** Rules for what runs without a question. */
  readonly allowedTools?: readonly string[] | undefined;
  /** Rules for what never runs; a bare tool is not offered. */
  readonly disallowedTools?: readonly string[] | undefined;
  /** What is offered at all: a preset, or built-in tools by name; everything when left out. */
  readonly tools?: ToolChoice | undefined;
  /** Whether the host answers asks. Tools that only ask are not offered where nobody does, which is meant when left out. */
  readonly asks?: "answered" | "refused" | undefined;
  /** A call of the one name runs the tool of the other. */
  readonly toolAliases?: Readonly<Record<string, string>> | undefined;
  /** Tools of the program that opens the session. */
  readonly ownTools?: readonly OwnTool[] | undefined;
  /** MCP servers, by a name of the host's own. */
  readonly mcpServers?: Readonly<Record<string, McpServerOptions>> | undefined;
  /** Only the servers that are named here, and none of files. */
  readonly strictMcpConfig?: boolean | undefined;
  /** Functions of the program that are called at points of the session. */
  readonly hooks?: readonly Hook[] | undefined;
  /** Kinds of agents of the program, beside those of files and our own. */
  readonly agents?: readonly AgentProfile[] | undefined;
  /** The session itself works as this kind of agent. */
  readonly agent?: string | undefined;
  /** Keep files before they change, so that a turn can be taken back; off when left out. */
  readonly checkpoints?: "on" | "off" | undefined;
  /** Notes that are kept over sessions, and the tools for them; off when left out. */
  readonly memory?: "on" | "off" | undefined;
  /** How a long conversation is shortened, in place of what the settings say. */
  readonly condense?: CondenseStrategy | undefined;
  /** A wish to confine commands, which Keel cannot: it is warned about, or refuses the start. */
  readonly sandbox?: { readonly enabled?: boolean; readonly failIfUnavailable?: boolean } | undefined;
  /** Further folders to work in. */
  readonly addDirs?: readonly string[] | undefined;
  readonly systemPrompt?: string | undefined;
  readonly appendSystemPrompt?: string | undefined;
  /** `no`: the conversation is told of the folder, so that the prompt is the same everywhere. */
  readonly placeInPrompt?: "no" | undefined;
  /** Folders of plugins; naming one is trusting it. */
  readonly plugins?: readonly string[] | undefined;
  /** The skills that the model is offered, by name; all when left out. */
  readonly skills?: readonly string[] | "all" | undefined;
  /** The form of the answer; the turn ends with it. */
  readonly jsonSchema?: JsonObject | undefined;
};
