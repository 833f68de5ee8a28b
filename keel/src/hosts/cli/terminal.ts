/** A question on the terminal: shows exactly what would run, waits for a line, and takes anything unclear as no. */
import { createInterface } from "node:readline";
import type { Ask, AskOption } from "../../protocol/ask.ts";
import type { Display } from "../../protocol/tool.ts";
import { visible } from "../../view/visible.ts";
import type { Context } from "./context.ts";

export type AskPerson = (ask: Ask, signal: AbortSignal) => Promise<AskOption | undefined>;

/** What was typed before the question was shown is no answer to it. */
const typedAheadMs = 50;

/** Undefined when the question was withdrawn, or the input ended. */
export function terminalAsker({ input, err }: Pick<Context, "input" | "err">): AskPerson {
  return async (ask, signal) => {
    const line = await askLine({ input, err }, question(ask), signal);
    return line === undefined ? undefined : pick(ask.options, line);
  };
}

/** The line that a person types to a question; undefined when it was withdrawn, or the input ended. */
export async function askLine(
  { input, err }: Pick<Context, "input" | "err">,
  words: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  await dropTypedAhead(input, signal);
  if (signal.aborted) return undefined;
  err.write(words);
  const line = await readLine(input, signal);
  if (line === undefined) err.write("\n");
  return line;
}

export function question(ask: Ask): string {
  const keys = keysOf(ask.options);
  const choices = ask.options.map((option, index) => `  ${keys[index]}  ${visible(option.label)}`);
  const reason = ask.reason === undefined ? [] : [`  (${visible(ask.reason)})`];
  const fallback = keys[ask.options.findIndex(({ verdict }) => verdict === "deny")];
  return [
    "",
    visible(ask.title),
    ...indented(bodyOf(ask.body)),
    ...reason,
    ...choices,
    `[${fallback ?? "no"}] > `,
  ].join("\n");
}

/** The option that a line means: its key, its name, `y` for the first that allows. All else is the first that denies. */
export function pick(options: readonly AskOption[], line: string): AskOption | undefined {
  const word = line.trim().toLowerCase();
  const keys = keysOf(options);
  const denying = options.find(({ verdict }) => verdict === "deny");
  if (word === "y" || word === "yes") return options.find(({ verdict }) => verdict === "allow") ?? denying;
  return options.find(({ id }, index) => word !== "" && (word === id || word === keys[index])) ?? denying;
}

/** The first letter of each option, or its number where the letter is taken. */
function keysOf(options: readonly AskOption[]): string[] {
  const taken = new Set(["y"]);
  return options.map(({ id }, index) => {
    const letter = id.slice(0, 1).toLowerCase();
    const key = letter === "" || taken.has(letter) ? String(index + 1) : letter;
    taken.add(key);
    return key;
  });
}

function bodyOf(body: Display): string {
  switch (body.kind) {
    case "terminal":
      return body.command;
    case "diff":
      return [body.path, ...body.hunks.flatMap(({ lines }) => lines)].join("\n");
    case "text":
    case "markdown":
    case "agent":
      return body.text;
    case "files":
      return body.paths.join("\n");
    case "todo":
      return body.items.map(({ text }) => text).join("\n");
  }
}

/** Every line is marked, so that none can pass for a line of ours. */
const indented = (text: string): string[] =>
  visible(text)
    .split("\n")
    .map((line) => `  │ ${line}`);

function readLine(input: Context["input"], signal: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve) => {
    // Without raw mode: Ctrl-C stays a signal, and it is the command that knows what it means.
    const lines = createInterface({ input, terminal: false });
    const settle = (line: string | undefined): void => {
      signal.removeEventListener("abort", stop);
      lines.off("close", stop);
      lines.close();
      resolve(line);
    };
    const stop = (): void => settle(undefined);
    lines.once("line", settle);
    lines.once("close", stop);
    signal.addEventListener("abort", stop, { once: true });
    // An input that has ended already closes nothing any more.
    if (signal.aborted || input.readableEnded || input.destroyed) stop();
  });
}

async function dropTypedAhead(input: Context["input"], signal: AbortSignal): Promise<void> {
  const drop = (): void => undefined;
  input.on("data", drop);
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, typedAheadMs);
    signal.addEventListener("abort", () => resolve(clearTimeout(timer)), { once: true });
  });
  input.off("data", drop);
  input.pause();
}
