/**
 * How a runner is started: by flags, or by a first line that says the same, so that nothing secret or long stands in
 * the arguments, which other users of the machine can read.
 */
import path from "node:path";
import * as z from "zod/mini";
import { mustFit, type OpenOptions, openOptionsOf as sessionOptionsOf } from "../../app/options.ts";
import { failed, ok, type Result } from "../../kernel/result.ts";
import { fieldOf, fromPlain, type OptionRow } from "../../protocol/option-row.ts";
import { rowsOf, type SessionOptions } from "../../protocol/options.ts";
import type { LineRead } from "../../transport/lines.ts";
import { type BadLine, readObject } from "./inputs.ts";
import { readServers } from "./servers.ts";

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

const fields = (): [string, keyof SessionOptions, OptionRow][] =>
  rowsOf().flatMap(([name, row]) => {
    const field = fieldOf(row);
    return field === undefined ? [] : [[field, name, row]];
  });

/** Names are those of the flags, in one word. */
export const startSchema = () =>
  z.strictObject({
    type: z.literal("start"),
    ...ownFields,
    ...Object.fromEntries(fields().map(([field, , { form }]) => [field, maybe(form.schema())])),
  });
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
  const given = fields().flatMap(([field, name, { form }]) =>
    line[field] === undefined ? [] : [[name, fromPlain(form, line[field])]],
  );
  return Object.fromEntries([...own, ...given]);
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
