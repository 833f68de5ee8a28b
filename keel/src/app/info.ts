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
  /** What is known about the model and its fallbacks, by id. */
  readonly models: Readonly<Record<string, ModelInfo>>;
  /** What ends a command's processes when Keel ends. */
  readonly guard: Guard;
};

/** Until a stronger guard is built, a killed Keel leaves what a command put into a session of its own. */
export type Guard = "process group only";
export const guard: Guard = "process group only";
