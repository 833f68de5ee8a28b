/**
 * How a runner is started: by flags, or by a first line that says the same, so that nothing secret or long stands in
 * the arguments, which other users of the machine can read.
 */
import path from "node:path";
import * as z from "zod/mini";
import { type BadLine, linesSchema, readObject } from "../../app/lines/read-line.ts";
import { mustFit, type OpenOptions, openOptionsOf as sessionOptionsOf } from "../../app/options.ts";
import { optionsFromPlain, plainOptionFields, readServers } from "../../app/plain-options.ts";
import type { JsonObject } from "../../kernel/json.ts";
import { failed, ok, type Result } from "../../kernel/result.ts";
import type { SessionOptions } from "../../protocol/options.ts";
import type { LineRead } from "../../transport/lines.ts";
import { eventSchemas } from "./events.ts";
import { inputSchemas } from "./inputs.ts";

const text = z.string().check(z.minLength(1));
const maybe = z.optional;

/** What a runner is told beside the options of its session. */
const ownFields = {
  cwd: maybe(text),
  conversationId: maybe(text),
  linearIssue: maybe(text),
  targetBranch: maybe(text),
  /** Added to the environment of the session: keys and addresses. */
  env: maybe(z.record(z.string(), z.string())),
  debug: maybe(z.boolean()),
  debugFile: maybe(text),
};

/** Names are those of the flags, in one word. */
export const startSchema = () =>
  z.strictObject({ type: z.literal("start"), ...ownFields, ...plainOptionFields() });
export type RunnerStart = SessionOptions & z.infer<z.ZodMiniObject<typeof ownFields>>;

/** Undefined for a blank line. */
export function readStart(read: LineRead): Result<RunnerStart, BadLine> | undefined {
  const line = readObject(read);
  if (!line?.ok) return line;
  if (line.value["type"] !== "start")
    return failed({ code: "bad_message", message: "The first line must be of the type start." });
  const parsed = startSchema().safeParse(line.value);
  if (parsed.success) return ok(startOf(parsed.data));
  const issue = parsed.error.issues[0];
  return failed({
    code: "bad_field",
    message: `start: ${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""}`.slice(0, 200),
  });
}

/** The fields under the names of the table; what is the runner's own keeps its name. */
function startOf(line: Readonly<Record<string, unknown>>): RunnerStart {
  const own = Object.keys(ownFields).flatMap((name) => (name in line ? [[name, line[name]]] : []));
  return { ...Object.fromEntries(own), ...optionsFromPlain(line) };
}

/** The options of the session. */
export function openOptionsOf(
  start: RunnerStart,
  context: { readonly version: string; readonly env: OpenOptions["env"]; readonly cwd: string },
): OpenOptions {
  const { cwd, env, mcpServers } = start;
  mustFit(start);
  return sessionOptionsOf(
    { permissionMode: "default", ...start },
    {
      version: context.version,
      env: { ...context.env, ...env },
      cwd: cwd === undefined ? context.cwd : path.resolve(context.cwd, cwd),
      // What an unclean end left goes on: nobody else would say so.
      unfinished: "continue",
      asks: "answered",
      mcpServers: mcpServers && readServers(mcpServers),
    },
  );
}

/** `keel runner --schema`: the JSON Schema of every input and event. */
export const runnerSchema = (): JsonObject =>
  linesSchema("Lines of keel runner", {
    inputs: Object.entries<z.ZodMiniType>({ start: startSchema(), ...inputSchemas }),
    events: eventSchemas,
  });
