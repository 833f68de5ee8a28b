/** From the options of the command line to those of a session. What does not fit together is a usage fault. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { readInlineSettings, settingSources } from "../../../app/maintenance/setting-sources.ts";
import type { OpenOptions } from "../../../app/options.ts";
import { isObject, type JsonObject } from "../../../kernel/json.ts";
import { amount, oneOf, splitList, usage, wholeNumber } from "../arguments.ts";
import type { Context } from "../context.ts";
import { hasPerson } from "../terminal/answer-asks.ts";
import type { PrintValues } from "./print-options.ts";

export const modes = ["default", "acceptEdits", "plan", "dontAsk", "auto", "bypassPermissions"] as const;

export async function openOptions(
  values: PrintValues,
  start: "new prompt" | "go on",
  context: Context,
): Promise<OpenOptions> {
  const { env, cwd, version } = context;
  const thinkingTokens = wholeNumber("max-thinking-tokens", values["max-thinking-tokens"], 0);
  const fallbackModels = splitList(values["fallback-model"]);
  return {
    version,
    env,
    cwd,
    which: whichOf(values),
    // A new prompt gives an unfinished turn up; without one it is what goes on.
    unfinished: start === "go on" ? "continue" : "lost",
    model: values.model,
    fallbackModels: fallbackModels.length > 0 ? fallbackModels : undefined,
    maxTurns: wholeNumber("max-turns", values["max-turns"], 1),
    maxBudgetUsd: amount("max-budget-usd", values["max-budget-usd"]),
    thinking: thinkingTokens === undefined ? undefined : thinkingOf(thinkingTokens),
    permissionMode: oneOf("permission-mode", values["permission-mode"], modes),
    bypass: values["allow-dangerously-skip-permissions"] ? "allowed" : "refused",
    tools: toolsOf(values),
    asks: hasPerson(context) ? "answered" : "refused",
    allowedTools: splitList(values["allowed-tools"]),
    disallowedTools: splitList(values["disallowed-tools"]),
    settings: await settingsOf(values.settings, cwd),
    settingSources: sourcesOf(values["setting-sources"]),
    mcpServers: await serversOf(values["mcp-config"], { cwd, env }),
    strictMcpConfig: values["strict-mcp-config"],
    addDirs: values["add-dir"],
    checkpoints: "on",
    memory: "on",
    systemPrompt: values["system-prompt"],
    appendSystemPrompt: values["append-system-prompt"],
    jsonSchema: await schemaOf(values["json-schema"], cwd),
  };
}

const presets = ["full", "read-only", "no-bash", "safe-edit", "coordinator"] as const;

function toolsOf({ tools, "tool-preset": preset }: PrintValues): OpenOptions["tools"] {
  if (tools.length > 0 && preset !== undefined)
    throw usage("--tools names tools and --tool-preset a set of them: give one of them.");
  if (tools.length === 0) return oneOf("tool-preset", preset, presets);
  const names = splitList(tools);
  return names.length === 1 && names[0] === "default" ? "full" : names;
}

function whichOf(values: PrintValues): OpenOptions["which"] {
  const { resume, fork } = values;
  const id = values["session-id"];
  if (resume !== undefined && values.continue)
    throw usage("--resume names a session and --continue the newest one: give one of them.");
  const from = resume !== undefined ? { session: resume } : values.continue ? ("newest" as const) : undefined;
  if (from === undefined && fork) throw usage("--fork needs --resume or --continue.");
  if (from === undefined) return { kind: "new", id };
  if (fork) return { kind: "fork", from, id };
  if (id !== undefined)
    throw usage("--session-id names a new session: with --resume or --continue it needs --fork.");
  return { kind: "resume", from };
}

const thinkingOf = (tokens: number): OpenOptions["thinking"] =>
  tokens === 0 ? { kind: "off" } : { kind: "budget", tokens };

/** Given without a name, none of the three is read. */
export function sourcesOf(given: readonly string[]): OpenOptions["settingSources"] {
  if (given.length === 0) return undefined;
  return splitList(given).flatMap((name) => oneOf("setting-sources", name, settingSources) ?? []);
}

/** Inline when it starts as an object does, otherwise the name of a file. */
export async function settingsOf(given: string | undefined, cwd: string): Promise<OpenOptions["settings"]> {
  if (given === undefined) return undefined;
  if (!given.trimStart().startsWith("{")) return path.resolve(cwd, given);
  const read = await readInlineSettings(given);
  if (read.ok) return read.value;
  throw usage(`--settings is not JSON: ${read.error}.`);
}

/** Each inline when it starts as an object does, otherwise the name of a file; later ones replace earlier ones. */
async function serversOf(
  given: readonly string[],
  { cwd, env }: Pick<Context, "cwd" | "env">,
): Promise<OpenOptions["mcpServers"]> {
  if (given.length === 0) return undefined;
  const { namedServers } = await import("../../../app/maintenance/mcp-manage.ts");
  const all = await Promise.all(
    given.map(async (one) => {
      const isInline = one.trimStart().startsWith("{");
      try {
        return JSON.parse(isInline ? one : await readFile(path.resolve(cwd, one), "utf8")) as unknown;
      } catch {
        throw usage(`--mcp-config: ${isInline ? "this is no JSON" : `${one} cannot be read as JSON`}.`);
      }
    }),
  );
  return Object.assign({}, ...all.map((servers) => namedServers(servers, { env, what: "--mcp-config" })));
}

/** Inline when it starts as an object does, otherwise the name of a file. */
export async function schemaOf(given: string | undefined, cwd: string): Promise<JsonObject | undefined> {
  if (given === undefined) return undefined;
  const isInline = given.trimStart().startsWith("{");
  const text = isInline ? given : await readSchema(path.resolve(cwd, given));
  let schema: unknown;
  try {
    schema = JSON.parse(text);
  } catch {
    throw usage(`--json-schema is not JSON${isInline ? "" : ` (in ${given})`}.`);
  }
  if (!isObject(schema)) throw usage("--json-schema is not a JSON Schema: it must be an object.");
  // What JSON.parse returns is JSON.
  return schema as JsonObject;
}

async function readSchema(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch {
    throw usage(`--json-schema: the file ${file} cannot be read.`);
  }
}
