/**
 * What a file of a person's own tools holds, and a call of one of them: each in a process of its own, which ends with the
 * answer. So a tool is always the file as it is now, and what hangs, throws or exits harms nobody else.
 */
import { fault } from "../../kernel/fault.ts";
import { asList, isObject, type Json, type JsonObject, parseJson } from "../../kernel/json.ts";
import { shorten } from "../../kernel/text.ts";
import type { RunProgram } from "../../ports/hook-programs.ts";

export type ToolPrograms = {
  readonly run: RunProgram;
  readonly cwd: string;
  /** What it finds in its environment beside the project's folder. */
  readonly env?: Readonly<Record<string, string>>;
  /** A word that nobody else can know: the line with the answer begins with it. */
  newMark(): string;
};

/** A tool as its file describes it, before anybody looked whether it is one. */
export type DescribedTool = {
  readonly name: unknown;
  readonly description: unknown;
  readonly inputSchema: unknown;
  readonly timeoutMs: unknown;
  readonly readOnly: unknown;
  /** What kind of thing its `run` is. */
  readonly run: unknown;
};

/** A picture in a result is large; what is larger than this is no answer. */
const maxBytes = 20_000_000;
const maxWords = 2_000;

/** Throws `tool_program_failed` with a sentence. */
export async function describeTools(
  file: string,
  programs: ToolPrograms,
  signal: AbortSignal,
): Promise<DescribedTool[]> {
  const { tools } = await answerOf({ file }, programs, signal);
  return asList(tools).filter(isObject) as DescribedTool[];
}

/** What the file of a plugin holds: lists of parts, as it describes them. Throws `tool_program_failed` with a sentence. */
export function describeExtension(
  file: string,
  programs: ToolPrograms,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  return answerOf({ file }, programs, signal);
}

/** What the tool, command or panel gave back, as it said it. Throws `tool_program_failed` with a sentence. */
export async function callTool(
  call: {
    readonly file: string;
    readonly part?: "tools" | "commands" | "panels";
    readonly tool: string;
    readonly input?: unknown;
    /** The values of a form. */
    readonly values?: JsonObject | undefined;
  },
  programs: ToolPrograms,
  signal: AbortSignal,
): Promise<unknown> {
  return (await answerOf(call, programs, signal))["result"];
}

async function answerOf(
  asked: object,
  { run, cwd, newMark, env = {} }: ToolPrograms,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const mark = newMark();
  const { exitCode, stdout, stderr, cut } = await run(
    {
      file: process.execPath,
      args: ["-e", program],
      cwd,
      env: { ...env, KEEL_PROJECT_DIR: cwd },
      input: JSON.stringify({ ...asked, mark }),
      maxBytes,
    },
    signal,
  );
  const line = stdout.split("\n").find((one) => one.startsWith(mark));
  const answer = line === undefined ? undefined : parseJson(line.slice(mark.length));
  if (isObject(answer)) {
    if (typeof answer["error"] === "string") throw failed(shorten(answer["error"], maxWords));
    return answer as Record<string, Json>;
  }
  if (cut) throw failed(`It answered with more than ${maxBytes} bytes.`);
  const how = exitCode === null ? "a signal ended it" : `it ended with code ${exitCode}`;
  const said = shorten(stderr.trim(), maxWords);
  throw failed(`It gave no answer: ${how}${said === "" ? "." : `, and said: ${said}`}`);
}

const failed = (reason: string): Error => fault("tool_program_failed", { reason });

/**
 * As a text, so that it needs no file of its own beside the bundle. What a tool prints goes to standard error: standard
 * output is for the one line with the answer.
 */
const program = `
const { pathToFileURL } = require("node:url");
const write = process.stdout.write.bind(process.stdout);
process.stdout.write = process.stderr.write.bind(process.stderr);
let given = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (piece) => { given += piece; });
process.stdin.on("end", async () => {
  const { file, part = "tools", tool, input, values = {}, mark } = JSON.parse(given);
  const end = (answer) => write("\\n" + mark + JSON.stringify(answer) + "\\n", () => process.exit(0));
  try {
    const loaded = await import(pathToFileURL(file).href);
    const found = loaded.default === undefined ? loaded : loaded.default;
    const isExtension = [found.tools, found.commands, found.panels].some(Array.isArray);
    const parts = isExtension ? found : { tools: Array.isArray(found) ? found : [found] };
    const all = (name) => (Array.isArray(parts[name]) ? parts[name] : []);
    if (tool === undefined) {
      end({ commands: all("commands").map((one) => ({
        name: one.name, description: one.description, argumentHint: one.argumentHint, run: typeof one.run,
      })), panels: all("panels").map((one) => ({ name: one.name, title: one.title, run: typeof one.show })),
      tools: all("tools").map((one) => ({
        name: one.name,
        description: one.description,
        inputSchema: one.inputSchema === undefined ? one.input_schema : one.inputSchema,
        timeoutMs: one.timeoutMs,
        readOnly: one.readOnly,
        run: typeof (one.run || one.execute),
      })) });
      return;
    }
    const one = all(part).find(({ name }) => name === tool);
    if (one === undefined) throw new Error("The file has no " + part.slice(0, -1) + " called " + tool + " any more.");
    const cwd = process.cwd();
    const run = one.run || one.execute;
    const result = part === "panels" ? await one.show({ cwd }) : await run.call(one, input, { cwd, values });
    end({ result: result === undefined ? null : result });
  } catch (thrown) {
    end({ error: String((thrown && thrown.message) || thrown) });
  }
});
`;
