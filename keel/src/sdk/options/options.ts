/**
 * The options of `query()`: names and meanings of the interface that Keel is a drop-in for, in types of our own. What is
 * plain data stands in the table of `protocol/options.ts`; here is what only a program can give.
 */
import type { SessionOptions } from "../../protocol/options.ts";
import type { ProcessOptions } from "../process/options.ts";
import type { SessionStore } from "../stored/session-store.ts";
import type { OnElicitation } from "../tools/elicitation.ts";
import type { McpServerConfig } from "../tools/mcp-server.ts";
import type { AgentDefinition } from "./agent-definition.ts";
import type { CanUseTool } from "./callbacks.ts";
import type { HookMap } from "./hooks.ts";
import type { AcceptedOptions } from "./options-accepted.ts";
import type { SandboxSettings } from "./sandbox-settings.ts";

/** What was given, is given: an option is there with a value, or not there. */
type TableOptions = {
  [Name in keyof SessionOptions as Name extends keyof ProgramOptions ? never : Name]?: Exclude<
    SessionOptions[Name],
    undefined
  >;
};

export type Options = TableOptions & ProgramOptions & AcceptedOptions & ProcessOptions;

/** No plain data, or about the program rather than the session. */
type ProgramOptions = {
  abortController?: AbortController;
  /** Kinds of agents for this session, by name. */
  agents?: Record<string, AgentDefinition>;
  canUseTool?: CanUseTool;
  cwd?: string;
  /** The whole environment of the session, in place of the process's own. */
  env?: Record<string, string | undefined>;
  extraArgs?: Record<string, string | null>;
  /** Callbacks by the name of the point: `PreToolUse`, `Stop` … */
  hooks?: HookMap;
  /** Keeps the session open after its prompt, until `close()`. */
  keepOpen?: boolean;
  /** Milliseconds for `sessionStore.load`; none when left out. */
  loadTimeoutMs?: number;
  mcpServers?: Record<string, McpServerConfig>;
  /** Answers what servers ask the person; without it they are told no. */
  onElicitation?: OnElicitation;
  sandbox?: SandboxSettings;
  /** Receives a copy of the session as it grows, and can bring it back. */
  sessionStore?: SessionStore;
  sessionStoreFlush?: "batched" | "eager";
  /** Hears what a person should know. */
  stderr?: (data: string) => void;
  /** Messages are words and nothing else: a slash calls no command, an `@` names no file. */
  verbatimPrompts?: boolean;
};
