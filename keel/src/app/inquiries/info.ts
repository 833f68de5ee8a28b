/** What a host may show about an open session and cannot learn from its events. */

import type { SessionState } from "../../core/state/state.ts";
import { isAwaited, isRunning } from "../../core/state/task-state.ts";
import type { PermissionMode } from "../../protocol/settings.ts";
import type { ModelInfo } from "../../protocol/usage.ts";

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
  /** What can be called with a slash now, prompts of servers included, sorted by name. */
  readonly commands: readonly CommandInfo[];
  /** The names of the skills that the model is offered. */
  readonly skills: readonly string[];
  readonly plugins: readonly { readonly name: string; readonly path: string; readonly version?: string }[];
  /** How answers are written, and which other ways there are. */
  readonly outputStyle: { readonly name: string; readonly all: readonly string[] };
  /** What is known about the model and its fallbacks, by id. */
  readonly models: Readonly<Record<string, ModelInfo>>;
  /** Whether a guard is wanted for commands; which kind this machine allows is known with the first one. */
  readonly guard: "on" | "off";
  readonly trust: ProjectTrust;
};

/**
 * `prompt`: a text that is put to the model. `local`: answered at once, without the model. `screen`: something that a
 * screen shows and lets choose from; where there is none it is answered with words.
 */
export type CommandKind = "prompt" | "local" | "screen";

export type CommandInfo = {
  readonly name: string;
  readonly description: string;
  readonly argumentHint: string;
  readonly kind: CommandKind;
  readonly source: "built-in" | "managed" | "project" | "user" | "plugin" | "bundled" | "mcp";
  readonly aliases: readonly string[];
  /** Can be called, but is not listed. */
  readonly hidden: boolean;
  /** Is answered also while a turn runs. */
  readonly immediate: boolean;
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

export type RunningTask = {
  readonly id: string;
  readonly description: string;
  /** Its end comes back to the model by itself; what a command merely left behind does not. */
  readonly reports: boolean;
};

export function runningTasks({ tasks }: SessionState): RunningTask[] {
  return [...tasks.values()].filter(isRunning).map((task) => ({
    id: task.id,
    description: task.data.description ?? task.id,
    reports: isAwaited(task),
  }));
}
