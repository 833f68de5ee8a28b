/** What a host may show about an open session and cannot learn from its events. */
import type { PermissionMode } from "../protocol/settings.ts";
import type { ModelInfo } from "../protocol/usage.ts";

export type SessionFacts = {
  readonly cwd: string;
  readonly roots: readonly string[];
  readonly model: string;
  readonly provider: string;
  /** The name of the variable in the environment, `settings`, or `none`; never the key. */
  readonly keySource: string;
  readonly permissionMode: PermissionMode;
  /** In the order in which the model is told of them. */
  readonly tools: readonly string[];
  /** The kinds of agents that work can be given to. */
  readonly agents: readonly AgentKind[];
  /** What is known about the model and its fallbacks, by id. */
  readonly models: Readonly<Record<string, ModelInfo>>;
  /** Whether a guard is wanted for commands; which kind this machine allows is known with the first one. */
  readonly guard: "on" | "off";
  readonly trust: ProjectTrust;
};

export type AgentKind = {
  readonly name: string;
  readonly description: string;
  readonly model?: string | undefined;
};

/** Whether the project's own settings count. */
export type ProjectTrust = {
  readonly root: string;
  /** `session`: for this session only, because its sources were named. */
  readonly state: "trusted" | "session" | "untrusted";
  /** What waits for trust, as `permissions.allow` or `hooks.SessionStart`. */
  readonly leftOut: readonly string[];
};
