/** From the arguments of an SDK and its first words to the options of a session, in the SDK's own form. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { isObject } from "../../kernel/json.ts";
import { present } from "../../kernel/present.ts";
import type { InitializeRequest } from "../../sdk/control/host-requests.ts";
import type { Options } from "../../sdk/options/options.ts";
import type { McpServerConfig } from "../../sdk/tools/mcp-server.ts";
import { amount, oneOf, splitList, usage, wholeNumber } from "../cli/arguments.ts";
import type { Context } from "../cli/context.ts";
import { modes, schemaOf, settingsOf, sourcesOf } from "../cli/print/open-options.ts";
import type { WireValues } from "./options.ts";

/** Throws a usage fault for a value that is none. What the other side answers itself is added by whoever calls. */
export async function sessionOptions(
  values: WireValues,
  said: InitializeRequest | undefined,
  { env, cwd, err }: Context,
): Promise<Options> {
  const asker = values["permission-prompt-tool"];
  const options: PartialOptions = {
    cwd,
    model: values.model,
    fallbackModel: splitList(values["fallback-model"]).join(",") || undefined,
    permissionMode: modeOf(values["permission-mode"]),
    allowDangerouslySkipPermissions: values["allow-dangerously-skip-permissions"],
    permissionPromptToolName: asker === "stdio" ? undefined : asker,
    permissionPrompts: oneOf("permission-prompts", values["permission-prompts"], ["host", "none"]),
    allowedTools: splitList(values["allowed-tools"]),
    disallowedTools: splitList(values["disallowed-tools"]),
    tools: toolsOf(values.tools),
    additionalDirectories: [...values["add-dir"]],
    continue: values.continue,
    resume: values.resume,
    forkSession: values.fork,
    resumeSessionAt: values["resume-session-at"],
    sessionId: values["session-id"],
    persistSession: !values["no-session-persistence"],
    maxTurns: wholeNumber("max-turns", values["max-turns"], 1),
    maxBudgetUsd: amount("max-budget-usd", values["max-budget-usd"]),
    maxThinkingTokens: wholeNumber("max-thinking-tokens", values["max-thinking-tokens"], 0),
    thinking: thinkingOf(oneOf("thinking", values.thinking, ["adaptive", "disabled"])),
    effort: oneOf("effort", values.effort, ["low", "medium", "high", "xhigh", "max"]),
    betas: splitList(values.betas),
    settings: await settingsOf(values.settings, cwd),
    settingSources: sourcesOf(values["setting-sources"])?.slice(),
    enableFileCheckpointing: env["CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING"] === "true",
    includePartialMessages: values["include-partial-messages"],
    includeHookEvents: values["include-hook-events"],
    skills: said?.skills,
    agent: values.agent,
    // Kinds of agents are looked at one by one where they are used; a wrong one is told and left out.
    agents: said?.agents as Options["agents"],
    plugins: pluginsOf(values, said),
    strictMcpConfig: values["strict-mcp-config"],
    toolAliases: said?.toolAliases,
    forwardSubagentText: said?.forwardSubagentText,
    managedSettings: objectIn("managed-settings", values["managed-settings"]),
    projectConfigRoot: values["project-config-root"],
    mcpServers: await serversOf(values["mcp-config"], cwd),
    outputFormat: await formatOf(values, said, cwd),
    systemPrompt: promptOf(values, said),
    title: said?.title,
    extraArgs: values["replay-user-messages"] ? { "replay-user-messages": null } : undefined,
    stderr: (words) => err.write(words),
  };
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

/** As `Options`, with every one named: what is undefined is left out at the end. */
type PartialOptions = { [Name in keyof Options]?: Options[Name] | undefined };

/** The interface has one more name for the mode in which everything is asked. */
const modeOf = (name: string | undefined): Options["permissionMode"] =>
  oneOf("permission-mode", name === "manual" ? "default" : name, modes);

function toolsOf(given: readonly string[]): Options["tools"] {
  if (given.length === 0) return undefined;
  const names = splitList(given);
  return names.length === 1 && names[0] === "default" ? { type: "preset", preset: "default" } : names;
}

const thinkingOf = (mode: "adaptive" | "disabled" | undefined): Options["thinking"] =>
  mode === undefined ? undefined : { type: mode };

async function formatOf(
  values: WireValues,
  said: InitializeRequest | undefined,
  cwd: string,
): Promise<Options["outputFormat"]> {
  const schema = said?.jsonSchema ?? (await schemaOf(values["json-schema"], cwd));
  return schema === undefined ? undefined : { type: "json_schema", schema };
}

/** An SDK whose program has no wish for the prompt sends an empty one. */
function promptOf(values: WireValues, said: InitializeRequest | undefined): Options["systemPrompt"] {
  const own = [said?.systemPrompt ?? values["system-prompt"] ?? []].flat().filter((part) => part !== "");
  const append = said?.appendSystemPrompt ?? values["append-system-prompt"];
  if (own.length > 0) return append === undefined ? own : [...own, append];
  const more = present({ append, excludeDynamicSections: said?.excludeDynamicSections });
  return Object.keys(more).length === 0 ? undefined : { type: "preset", preset: "default", ...more };
}

function pluginsOf(values: WireValues, said: InitializeRequest | undefined): Options["plugins"] {
  const named = (said?.plugins ?? []).flatMap(({ path: folder }) =>
    typeof folder === "string" ? [{ type: "local" as const, path: folder }] : [],
  );
  const given = values["plugin-dir"].map((folder) => ({ type: "local" as const, path: folder }));
  const quiet = values["plugin-dir-no-mcp"].map((folder) => ({
    type: "local" as const,
    path: folder,
    skipMcpDiscovery: true,
  }));
  const all = [...given, ...quiet, ...named];
  return all.length > 0 ? all : undefined;
}

function objectIn(name: string, given: string | undefined): Record<string, unknown> | undefined {
  if (given === undefined) return undefined;
  try {
    const parsed: unknown = JSON.parse(given);
    if (isObject(parsed)) return parsed;
  } catch {
    // Told below.
  }
  throw usage(`--${name} takes an object in JSON.`);
}

/** Inline when it starts as an object does, otherwise the name of a file; later ones win. */
async function serversOf(given: readonly string[], cwd: string): Promise<Options["mcpServers"]> {
  if (given.length === 0) return undefined;
  const read = await Promise.all(given.map((one) => serversIn(one, cwd)));
  return Object.assign({}, ...read);
}

async function serversIn(given: string, cwd: string): Promise<Record<string, McpServerConfig>> {
  let parsed: unknown;
  try {
    const isInline = given.trimStart().startsWith("{");
    parsed = JSON.parse(isInline ? given : await readFile(path.resolve(cwd, given), "utf8"));
  } catch {
    throw usage("--mcp-config takes JSON, inline or in a file that can be read.");
  }
  const servers = isObject(parsed) ? parsed["mcpServers"] : undefined;
  if (!isObject(servers)) throw usage('--mcp-config has no "mcpServers".');
  // Each is looked at when it is connected; one of the wrong form fails alone.
  return servers as Record<string, McpServerConfig>;
}
