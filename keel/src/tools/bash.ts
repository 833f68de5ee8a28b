/** Bash: one command, its output while it runs, and the truth about how it ended. */
import { constants } from "node:os";
import * as z from "zod/mini";
import type { ShellOutcome } from "../engine/ports.ts";
import { defineTool, type Tool, type ToolOutcome } from "../engine/tools/define.ts";
import { childOf } from "../kernel/abort.ts";
import { schemaOf } from "../kernel/schema.ts";
import { text } from "../protocol/message.ts";
import type { Display } from "../protocol/tool.ts";

const second = 1_000;
const defaultTimeoutMs = 120 * second;
const mostTimeoutMs = 600 * second;
/** What is kept of an output. The model sees less of it; the engine puts the rest into a file. */
const mostOutputBytes = 1_000_000;
/** What screens and programs are given of it, since that stands in the log. */
const mostShownCharacters = 30_000;
/** What a screen is given while the command runs, twenty times a second. */
const mostLiveCharacters = 4_000;

const input = z.object({
  command: z.string().check(z.describe("The command.")),
  timeout: z.optional(
    z
      .int()
      .check(
        z.gte(1),
        z.lte(mostTimeoutMs),
        z.describe(`Milliseconds until it is stopped; ${defaultTimeoutMs} if left out.`),
      ),
  ),
  description: z.optional(
    z.string().check(z.describe("What it does, in a few words, for the person who watches.")),
  ),
});
type Input = z.infer<typeof input>;

export const bashTool: Tool<Input> = defineTool({
  name: "Bash",
  description: `Runs a command with bash in the working directory and returns what it prints, standard output and error together. Every call is a new shell: \`cd\` and variables do not carry over. There is no input, so nothing interactive works. It returns when the command ends; what was started with \`&\` keeps running.`,
  input: schemaOf(input),
  claims: async ({ command }) => [{ action: "execute", target: command }],
  check: async ({ command }) => {
    if (command.trim() === "") return "The command is empty.";
    if (command.includes("\0")) return "The command holds a NUL byte.";
    return command.isWellFormed()
      ? undefined
      : "The command is not valid text: it holds half of a surrogate pair.";
  },
  run: async function* (
    { command, timeout = defaultTimeoutMs },
    { workspace },
    signal,
  ): AsyncGenerator<Display, ToolOutcome> {
    // Whoever stops listening to this call ends its command too.
    const { controller, release } = childOf(signal);
    const running = workspace.shell.run(
      { text: command, cwd: workspace.cwd, timeoutMs: timeout, mostBytes: mostOutputBytes },
      controller.signal,
    );
    try {
      let shown = "";
      for (;;) {
        const next = await running.next();
        if (next.done) return toOutcome({ command, timeoutMs: timeout, outcome: next.value });
        shown = (shown + next.value.text).slice(-mostLiveCharacters);
        yield { kind: "terminal", command, output: shown, exitCode: null };
      }
    } finally {
      release();
      controller.abort();
    }
  },
});

function toOutcome({
  command,
  timeoutMs,
  outcome,
}: {
  command: string;
  timeoutMs: number;
  outcome: ShellOutcome;
}): ToolOutcome {
  const output = outcome.output.replace(/\n+$/, "");
  const shown = middleOut(output);
  const exitCode = exitCodeOf(outcome);
  const failed = exitCode !== 0 || outcome.timedOut || outcome.interrupted;
  const words = [
    ...(failed ? endOf(outcome, { exitCode, timeoutMs }) : []),
    ...(output === "" ? [] : [output]),
  ];
  return {
    content: [text(words.length === 0 ? "(Bash completed with no output)" : words.join("\n"))],
    display: { kind: "terminal", command, output: shown, exitCode },
    failed,
    data: {
      stdout: shown,
      stderr: "",
      interrupted: outcome.interrupted,
      isImage: false,
      ...(outcome.timedOut ? { timedOutAfterMs: timeoutMs } : {}),
    },
  };
}

function endOf(
  { timedOut, interrupted, signal }: ShellOutcome,
  { exitCode, timeoutMs }: { exitCode: number | null; timeoutMs: number },
): string[] {
  if (interrupted) return ["The command was interrupted; it may have had effects."];
  const how = timedOut
    ? [`Command timed out after ${timeoutMs / second}s`]
    : signal
      ? [`Ended by ${signal}`]
      : [];
  return [`Exit code ${exitCode ?? "unknown"}`, ...how];
}

/** As a shell tells it: 128 and the number of the signal. */
function exitCodeOf({ exitCode, signal }: ShellOutcome): number | null {
  if (exitCode !== null) return exitCode;
  const number = Object.entries(constants.signals).find(([name]) => name === signal)?.[1];
  return number === undefined ? null : 128 + number;
}

function middleOut(output: string): string {
  if (output.length <= mostShownCharacters) return output;
  const half = Math.floor(mostShownCharacters / 2);
  return `${output.slice(0, half)}\n\n[… ${output.length - 2 * half} characters left out …]\n\n${output.slice(-half)}`;
}
