/** The options of `query()`: names and meanings of the interface that Keel is a drop-in for, in types of our own. */
import type { OpenOptions } from "../app/options.ts";
import { fault } from "../kernel/fault.ts";
import { isObject, type JsonObject } from "../kernel/json.ts";
import type { PermissionMode, ThinkingMode } from "../protocol/settings.ts";
import type { CanUseTool } from "./callbacks.ts";
import { type HookMap, hooksOf } from "./hooks.ts";

export type Options = {
  abortController?: AbortController;
  additionalDirectories?: string[];
  /** Rules for what runs without a question; no filter of tools. */
  allowedTools?: string[];
  allowDangerouslySkipPermissions?: boolean;
  canUseTool?: CanUseTool;
  continue?: boolean;
  cwd?: string;
  /** Rules for what never runs; a bare tool is not offered. */
  disallowedTools?: string[];
  effort?: "low" | "medium" | "high" | "xhigh" | "max";
  enableFileCheckpointing?: boolean;
  /** The whole environment of the session, in place of the process's own. */
  env?: Record<string, string | undefined>;
  extraArgs?: Record<string, string | null>;
  /** One model, or several separated by commas. */
  fallbackModel?: string;
  forkSession?: boolean;
  /** Callbacks by the name of the point: `PreToolUse`, `Stop` … */
  hooks?: HookMap;
  includePartialMessages?: boolean;
  /** Keeps the session open after a string prompt, until `close()`. */
  keepOpen?: boolean;
  maxBudgetUsd?: number;
  maxThinkingTokens?: number;
  maxTurns?: number;
  model?: string;
  outputFormat?: { type: "json_schema"; schema: Record<string, unknown> };
  permissionMode?: PermissionMode;
  persistSession?: boolean;
  resume?: string;
  sessionId?: string;
  settingSources?: ("user" | "project" | "local")[];
  stderr?: (data: string) => void;
  systemPrompt?: string | string[] | SystemPromptPreset;
  thinking?: { type: "adaptive" } | { type: "enabled"; budgetTokens?: number } | { type: "disabled" };
  title?: string;
};

export type SystemPromptPreset = { type: "preset"; preset: string; append?: string };

const defaultThinkingTokens = 10_000;

/** What Keel opens for these options. Throws `usage` for what contradicts itself. */
export function openOptionsOf(
  options: Options,
  { version, processEnv }: { version: string; processEnv: Environment },
): OpenOptions {
  const env = options.env ?? processEnv;
  return {
    version,
    env: withOurNames(env),
    cwd: options.cwd ?? process.cwd(),
    which: whichOf(options),
    unfinished: "lost",
    persist: options.persistSession === false ? "memory" : "disk",
    model: options.model,
    fallbackModels: options.fallbackModel
      ?.split(",")
      .map((name) => name.trim())
      .filter(Boolean),
    thinking: thinkingOf(options),
    permissionMode: options.permissionMode ?? "default",
    bypass: options.allowDangerouslySkipPermissions ? "allowed" : "refused",
    allowedTools: options.allowedTools,
    disallowedTools: options.disallowedTools,
    hooks: hooksOf(options.hooks),
    addDirs: options.additionalDirectories,
    checkpoints: options.enableFileCheckpointing ? "on" : "off",
    jsonSchema: schemaOf(options),
    maxTurns: options.maxTurns,
    maxBudgetUsd: options.maxBudgetUsd,
    ...promptOf(options),
  };
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Variables of the executable that this interface drives elsewhere mean the same as ours; ours win. */
const sameMeaning: Readonly<Record<string, string>> = {
  CLAUDE_CODE_MAX_RETRIES: "KEEL_MAX_RETRIES",
  CLAUDE_CODE_ENABLE_TASKS: "KEEL_ENABLE_TASKS",
};

function withOurNames(env: Environment): Environment {
  const renamed = Object.entries(sameMeaning).flatMap(([theirs, ours]) =>
    env[theirs] === undefined ? [] : [[ours, env[theirs]] as const],
  );
  return { ...Object.fromEntries(renamed), ...env };
}

function whichOf({ resume, continue: newest, forkSession, sessionId }: Options): OpenOptions["which"] {
  if (resume !== undefined && newest) throw fault("usage", { reason: "Give resume or continue, not both." });
  const from = resume !== undefined ? { session: resume } : newest ? ("newest" as const) : undefined;
  if (from === undefined) return { kind: "new", id: sessionId };
  return forkSession ? { kind: "fork", from, id: sessionId } : { kind: "resume", from };
}

function thinkingOf({ thinking, maxThinkingTokens }: Options): ThinkingMode | undefined {
  switch (thinking?.type) {
    case "adaptive":
      return { kind: "adaptive" };
    case "enabled":
      return { kind: "budget", tokens: thinking.budgetTokens ?? defaultThinkingTokens };
    case "disabled":
      return { kind: "off" };
    case undefined:
      if (maxThinkingTokens === undefined) return undefined;
      return maxThinkingTokens > 0 ? { kind: "budget", tokens: maxThinkingTokens } : { kind: "off" };
  }
}

function promptOf({ systemPrompt }: Options): Pick<OpenOptions, "systemPrompt" | "appendSystemPrompt"> {
  if (systemPrompt === undefined) return {};
  if (typeof systemPrompt === "string") return { systemPrompt };
  if (Array.isArray(systemPrompt)) return { systemPrompt: systemPrompt.join("\n\n") };
  return systemPrompt.append === undefined ? {} : { appendSystemPrompt: systemPrompt.append };
}

function schemaOf({ outputFormat }: Options): JsonObject | undefined {
  if (outputFormat === undefined) return undefined;
  if (!isObject(outputFormat.schema))
    throw fault("usage", { reason: "outputFormat.schema must be a JSON Schema." });
  return outputFormat.schema as JsonObject;
}
