/** `keel desktop`: from its options to the runtime behind a desktop shell, which is loaded only now. */
import path from "node:path";
import {
  type Arguments,
  type CliOptions,
  type OptionValues,
  usage,
  wholeNumber,
} from "../../../app/flags/arguments.ts";
import { type FlagValues, flagsOf, readFlags } from "../../../app/flags/session-flags.ts";
import { exitCodes } from "../../../kernel/faults.ts";
import type { Context } from "../context.ts";

const own = {
  cwd: { kind: "text", value: "DIR", says: "The folder to work in; ALLOWED_ROOT_DIR when left out" },
  asks: {
    kind: "text",
    value: "HOW",
    says: "answered: by the shell; refused: it cannot be asked",
  },
  "message-timeout": {
    kind: "text",
    value: "SECONDS",
    says: "How long a message may take; 600 when left out",
  },
  "ask-timeout": {
    kind: "text",
    value: "SECONDS",
    says: "How long a question waits before it counts as refused; 300 when left out",
  },
  "max-file-size": {
    kind: "text",
    value: "MB",
    says: "How large a file of its tools may be (MAX_FILE_SIZE_MB, else 10)",
  },
  schema: { kind: "flag", says: "Print the JSON Schema of every line, and end" },
} as const satisfies CliOptions;

/** Which session a message belongs to is said by its conversation. */
const unfit: ReadonlySet<string> = new Set([
  "resume",
  "continue",
  "fork",
  "fork-session",
  "session-id",
  "no-session-persistence",
]);
const sessionFlags: CliOptions = Object.fromEntries(
  Object.entries(flagsOf("runner")).filter(([name]) => !unfit.has(name)),
);

export const desktopOptions: typeof own & CliOptions = { ...own, ...sessionFlags };
type DesktopValues = OptionValues<typeof own> & FlagValues;

export async function startDesktop(
  { values }: Pick<Arguments<typeof desktopOptions>, "values">,
  context: Context,
): Promise<number> {
  if (values.schema) {
    const { desktopSchema } = await import("../../desktop/responses.ts");
    context.out.line(JSON.stringify(desktopSchema(), null, 2));
    return exitCodes.ended;
  }
  const { run } = await import("../../desktop/main.ts");
  return run(await startOf(values, context), context);
}

async function startOf(values: DesktopValues, { cwd: here, env }: Context) {
  const { asks = "answered" } = values;
  if (asks !== "answered" && asks !== "refused") throw usage("--asks is answered or refused.");
  const cwd = path.resolve(here, values.cwd ?? (env["ALLOWED_ROOT_DIR"]?.trim() || "."));
  return {
    session: await readFlags("runner", values, cwd),
    cwd,
    asks,
    messageSeconds: count(values, "message-timeout", 600),
    askSeconds: count(values, "ask-timeout", 300),
    maxFileBytes: count(values, "max-file-size", Number(env["MAX_FILE_SIZE_MB"]) || 10) * 1024 * 1024,
  } as const;
}

const count = (
  values: DesktopValues,
  name: keyof typeof own & `${string}-${string}`,
  usual: number,
): number => wholeNumber(name, values[name], 1) ?? usual;
