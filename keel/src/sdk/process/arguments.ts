/** The options of a query as an executable takes them: arguments, environment, and its introduction. Pure. */
import { defaultThinkingTokens } from "../../app/options.ts";
import { fault } from "../../kernel/fault.ts";
import { present } from "../../kernel/json.ts";
import { never } from "../../kernel/result.ts";
import {
  flagAt,
  type OutputFormat,
  type PluginConfig,
  type ThinkingConfig,
  type ValueKind,
} from "../../protocol/option-row.ts";
import { rowsOf, type SessionOptions, toolPresets } from "../../protocol/options.ts";
import type { wireHooks } from "../control/local-callbacks.ts";
import type { Options } from "../options/options.ts";
import type { ServerConfigs } from "../tools/mcp-server.ts";

type ArgumentsEnvironment = Record<string, string | undefined>;

const base = ["--output-format", "stream-json", "--verbose", "--input-format", "stream-json"];

export function argumentsOf(options: Options): string[] {
  const { canUseTool, thinking, maxThinkingTokens } = options;
  const given: SessionOptions = {
    ...options,
    ...(canUseTool ? { permissionPromptToolName: "stdio" } : {}),
    settings: settingsOf(options),
    maxThinkingTokens: thinking ? budgetOf(thinking) : maxThinkingTokens,
  };
  const named = rowsOf().flatMap(([name, row]) => {
    const flag = row.introduced === "only" ? undefined : flagAt("executable", row);
    // Where there are two spellings, the second one is the interface's own.
    return flag === undefined || given[name] === undefined
      ? []
      : written(`--${flag.aliases[0] ?? flag.name}`, row.form.kind, given[name]);
  });
  return [
    ...base,
    ...named,
    ...(options.sessionStore ? ["--session-mirror"] : []),
    ...Object.entries(options.extraArgs ?? {}).flatMap(([name, value]) =>
      value === null ? [`--${name}`] : [`--${name}`, value],
    ),
  ];
}

/** A value as arguments. It is of the kind that its row says. */
function written(flag: string, kind: ValueKind, value: unknown): string[] {
  const list = Array.isArray(value) ? value : undefined;
  switch (kind) {
    case "flag":
      return value ? [flag] : [];
    case "off":
      return value === false ? [flag] : [];
    case "rules":
      return list?.length ? [`${flag}=${list.join(",")}`] : [];
    case "names":
      return [`${flag}=${list?.join(",") ?? value}`];
    case "folders":
      return (list ?? []).map((folder) => `${flag}=${folder}`);
    case "plugins":
      return (value as PluginConfig[]).map(
        ({ path, skipMcpDiscovery }) => `${flag}${skipMcpDiscovery ? "-no-mcp" : ""}=${path}`,
      );
    case "tools":
      return list ? [`${flag}=${list.join(",")}`] : presetOf(value as { preset: string });
    case "thinking":
      return (value as ThinkingConfig).type === "enabled"
        ? []
        : [`${flag}=${(value as ThinkingConfig).type}`];
    case "schema":
      return [`${flag}=${JSON.stringify((value as OutputFormat).schema)}`];
    case "servers":
      return serversOf(flag, value as ServerConfigs);
    case "object":
      return [flag, JSON.stringify(value)];
    case "settings":
      return [flag, typeof value === "string" ? value : JSON.stringify(value)];
    case "text":
    case "count":
    case "amount":
    case "choice":
    case "joined":
      return [`${flag}=${value}`];
    default:
      return never(kind);
  }
}

const budgetOf = (thinking: ThinkingConfig): number | undefined =>
  thinking.type === "enabled" ? (thinking.budgetTokens ?? defaultThinkingTokens) : undefined;

const presetOf = ({ preset }: { preset: string }): string[] =>
  toolPresets.some((name) => name === preset) ? [`--tool-preset=${preset}`] : ["--tools=default"];

/** Those outside of the program; its own are named in the introduction. */
function serversOf(flag: string, servers: ServerConfigs): string[] {
  const outside = Object.entries(servers).filter(([, { type }]) => type !== "sdk");
  return outside.length === 0 ? [] : [flag, JSON.stringify({ mcpServers: Object.fromEntries(outside) })];
}

/** The sandbox is a setting; beside a file of settings it has no place in the arguments. */
function settingsOf({ settings, sandbox }: Options): Options["settings"] | undefined {
  if (sandbox === undefined) return settings;
  if (typeof settings === "string")
    throw fault("usage", { reason: "Give the sandbox in the file of settings, or both inline." });
  return { ...settings, sandbox: { failIfUnavailable: true, ...sandbox } };
}

/** Undefined values are left out: a child gets texts only. */
export function environmentFor(
  { env, enableFileCheckpointing }: Options,
  processEnv: ArgumentsEnvironment,
): ArgumentsEnvironment {
  return {
    ...(env ?? processEnv),
    CLAUDE_CODE_SDK_READS_SESSION_STATE: "1",
    ...(enableFileCheckpointing ? { CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING: "true" } : {}),
  };
}

/** What is too large or too private for arguments. */
export function introductionOf(
  options: Options,
  hooks: ReturnType<typeof wireHooks>["named"],
): { subtype: "initialize" } & Record<string, unknown> {
  const sdkServers = Object.entries(options.mcpServers ?? {}).filter(([, { type }]) => type === "sdk");
  const timeouts = sdkServers.flatMap(([name, { timeout }]) =>
    timeout === undefined ? [] : [[name, { timeout }] as const],
  );
  return {
    subtype: "initialize",
    ...(Object.keys(hooks).length > 0 ? { hooks } : {}),
    ...(sdkServers.length > 0 ? { sdkMcpServers: sdkServers.map(([name]) => name) } : {}),
    ...(timeouts.length > 0 ? { sdkMcpServerConfigs: Object.fromEntries(timeouts) } : {}),
    ...(options.outputFormat ? { jsonSchema: options.outputFormat.schema } : {}),
    ...present(Object.fromEntries(introduced.map((name) => [name, options[name]]))),
    ...prompt(options),
  };
}

/** Said in the introduction under their own names; the prompt is said in parts. */
const introduced = rowsOf().flatMap(([name, { introduced: where }]) =>
  where === "only" && name !== "systemPrompt" ? [name] : [],
);

/** Whether the executable may ask something of the program: then its end of the wire stays open for the answers. */
export const hasCallbacks = ({ canUseTool, onElicitation, hooks = {}, mcpServers = {} }: Options): boolean =>
  (canUseTool ?? onElicitation) !== undefined ||
  Object.keys(hooks).length > 0 ||
  Object.values(mcpServers).some(({ type }) => type === "sdk");

function prompt({ systemPrompt }: Options): Record<string, unknown> {
  if (systemPrompt === undefined) return {};
  if (typeof systemPrompt === "string" || Array.isArray(systemPrompt))
    return { systemPrompt: [systemPrompt].flat() };
  if ("prompt" in systemPrompt) return { systemPrompt: [systemPrompt.prompt].flat() };
  const { append, excludeDynamicSections } = systemPrompt;
  return present({ appendSystemPrompt: append, excludeDynamicSections });
}
