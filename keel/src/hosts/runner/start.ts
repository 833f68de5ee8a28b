/**
 * How a runner is started: by flags, or by a first line that says the same, so that nothing secret or long stands in
 * the arguments, which other users of the machine can read.
 */
import { readFile } from "node:fs/promises";
import path from "node:path";
import * as z from "zod/mini";
import type { OpenOptions } from "../../app/options.ts";
import { fault } from "../../kernel/fault.ts";
import { isObject, type Json, type JsonObject } from "../../kernel/json.ts";
import { failed, ok, type Result } from "../../kernel/result.ts";
import { jsonSchema } from "../../protocol/message.ts";
import { permissionModeSchema } from "../../protocol/settings.ts";
import type { LineRead } from "../../transport/lines.ts";
import { type BadLine, readObject } from "./inputs.ts";
import { readServers } from "./servers.ts";

const text = z.string().check(z.minLength(1));
const count = z.int().check(z.minimum(0), z.maximum(1_000_000_000));
const maybe = z.optional;
const object = z.record(z.string(), jsonSchema);

export const presets = ["full", "read-only", "no-bash", "safe-edit"] as const;
const sources = z.enum(["user", "project", "local"]);

/** Names are those of the flags, in one word. */
export const startSchema = z.strictObject({
  type: z.literal("start"),
  cwd: maybe(text),
  conversationId: maybe(text),
  resume: maybe(text),
  fork: maybe(z.boolean()),
  linearIssue: maybe(text),
  targetBranch: maybe(text),
  toolPreset: maybe(z.enum(presets)),
  enableCheckpointing: maybe(z.boolean()),
  structuredOutput: maybe(object),
  maxBudgetUsd: maybe(z.number().check(z.positive())),
  maxTurns: maybe(count.check(z.minimum(1))),
  maxThinkingTokens: maybe(count),
  permissionMode: maybe(permissionModeSchema),
  allowDangerouslySkipPermissions: maybe(z.boolean()),
  settingSources: maybe(z.array(sources)),
  betas: maybe(z.array(text)),
  model: maybe(text),
  fallbackModel: maybe(text),
  instructions: maybe(text),
  mcpServers: maybe(z.record(z.string(), object)),
  allowedTools: maybe(z.array(text)),
  disallowedTools: maybe(z.array(text)),
  /** Added to the environment of the session: keys and addresses. */
  env: maybe(z.record(z.string(), z.string())),
  debug: maybe(z.boolean()),
  debugFile: maybe(text),
});
export type RunnerStart = Omit<z.infer<typeof startSchema>, "type">;

/** Undefined for a blank line. */
export function readStart(read: LineRead): Result<RunnerStart, BadLine> | undefined {
  const line = readObject(read);
  if (!line?.ok) return line;
  if (line.value["type"] !== "start")
    return failed({ code: "bad_message", message: "The first line must be of the type start." });
  const parsed = startSchema.safeParse(line.value);
  if (parsed.success) return ok(parsed.data);
  const issue = parsed.error.issues[0];
  return failed({
    code: "bad_field",
    message: `start: ${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""}`.slice(0, 200),
  });
}

export type StartFiles = {
  readonly instructionsFile?: string | undefined;
  readonly mcpServersFile?: string | undefined;
};

/** Files that flags name, read. Throws `usage`. */
export async function withFiles(
  start: RunnerStart,
  { instructionsFile, mcpServersFile }: StartFiles,
  cwd: string,
): Promise<RunnerStart> {
  const [instructions, servers] = await Promise.all([
    instructionsFile === undefined
      ? undefined
      : readText("instructions-file", path.resolve(cwd, instructionsFile)),
    mcpServersFile === undefined
      ? undefined
      : readText("mcp-servers-file", path.resolve(cwd, mcpServersFile)),
  ]);
  return {
    ...start,
    ...(instructions === undefined ? {} : { instructions }),
    ...(servers === undefined ? {} : { mcpServers: serversIn(servers) }),
  };
}

const maxFileBytes = 4 * 1024 * 1024;

async function readText(flag: string, file: string): Promise<string> {
  try {
    const content = await readFile(file);
    if (content.length > maxFileBytes) throw fault("usage", { reason: `--${flag}: ${file} is too long.` });
    return content.toString("utf8");
  } catch (cause) {
    throw fault("usage", { reason: `--${flag}: ${file} cannot be read.`, cause });
  }
}

/** With or without the name around them, as hosts write them. */
function serversIn(words: string): Record<string, Record<string, Json>> {
  const wrong = fault("usage", { reason: "--mcp-servers-file holds no servers." });
  let value: unknown;
  try {
    value = JSON.parse(words);
  } catch {
    throw wrong;
  }
  const servers = isObject(value) && isObject(value["mcpServers"]) ? value["mcpServers"] : value;
  const parsed = z.record(z.string(), object).safeParse(servers);
  if (!parsed.success) throw wrong;
  return parsed.data;
}

/** The options of the session. */
export function openOptionsOf(
  start: RunnerStart,
  context: { readonly version: string; readonly env: OpenOptions["env"]; readonly cwd: string },
): OpenOptions {
  const { resume, maxThinkingTokens, fallbackModel } = start;
  const from = resume === undefined ? undefined : { session: resume };
  if (start.fork && !from) throw fault("usage", { reason: "--fork needs --resume." });
  return {
    version: context.version,
    env: { ...context.env, ...start.env },
    cwd: start.cwd === undefined ? context.cwd : path.resolve(context.cwd, start.cwd),
    which: from ? { kind: start.fork ? "fork" : "resume", from } : { kind: "new" },
    // What an unclean end left goes on: nobody else would say so.
    unfinished: "continue",
    model: start.model,
    fallbackModels:
      fallbackModel === undefined ? undefined : fallbackModel.split(",").map((name) => name.trim()),
    maxTurns: start.maxTurns,
    maxBudgetUsd: start.maxBudgetUsd,
    thinking: maxThinkingTokens === undefined ? undefined : thinkingOf(maxThinkingTokens),
    permissionMode: start.permissionMode ?? "default",
    bypass: start.allowDangerouslySkipPermissions ? "allowed" : "refused",
    tools: start.toolPreset,
    asks: "answered",
    allowedTools: start.allowedTools,
    disallowedTools: start.disallowedTools,
    settingSources: start.settingSources,
    checkpoints: start.enableCheckpointing ? "on" : "off",
    mcpServers: start.mcpServers && readServers(start.mcpServers),
    appendSystemPrompt: start.instructions,
    jsonSchema: start.structuredOutput as JsonObject | undefined,
  };
}

export const thinkingOf = (tokens: number): NonNullable<OpenOptions["thinking"]> =>
  tokens === 0 ? { kind: "off" } : { kind: "budget", tokens };
