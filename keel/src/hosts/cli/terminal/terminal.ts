/** A question on the terminal: shows exactly what would run, waits for a line, and takes anything unclear as no. */

import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { visible } from "../../../kernel/text.ts";
import type { Ask } from "../../../protocol/ask.ts";
import { type AskChoice, type Chosen, choicesOf, choose } from "../../../view/choices.ts";
import { askedText } from "../../../view/display-text.ts";
import type { Context } from "../context.ts";

/** Shows words and waits for a line; undefined when the input ended or the question was withdrawn. */
export type ReadAnswer = (words: string, signal: AbortSignal) => Promise<string | undefined>;
export type AskPerson = (ask: Ask, signal: AbortSignal) => Promise<Chosen | undefined>;

/** What was typed before the question was shown is no answer to it. */
const typedAheadMs = 50;

/** Undefined when the question was withdrawn, or the input ended. */
export const terminalAsker = (context: Pick<Context, "input" | "err">): AskPerson =>
  personAsker((words, signal) => askLine(context, words, signal));

/** Asks by whatever reads the lines of a person. */
export function personAsker(readAnswer: ReadAnswer): AskPerson {
  return async (ask, signal) => {
    const line = await readAnswer(question(ask), signal);
    const chosen = line === undefined ? undefined : choose(ask.options, line);
    if (!chosen?.option.takesWords || chosen.words !== undefined) return chosen;
    const words = await readAnswer("What should the model know? > ", signal);
    return words?.trim() ? { ...chosen, words: words.trim() } : chosen;
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

/** Anything but a yes is a no. */
export async function confirms(
  context: Pick<Context, "input" | "err">,
  words: string,
  signal = new AbortController().signal,
): Promise<boolean> {
  const line = await askLine(context, words, signal);
  return ["y", "yes"].includes(line?.trim().toLowerCase() ?? "");
}

export function question(ask: Ask): string {
  const choices = choicesOf(ask.options);
  const fallback = choices.find(({ isFallback }) => isFallback)?.key ?? "no";
  const reason = ask.reason === undefined ? [] : [`  (${visible(ask.reason)})`];
  return [
    "",
    visible(ask.title),
    ...indented(askedText(ask.body)),
    ...reason,
    ...choices.flatMap(sayChoice),
    `[${fallback}] > `,
  ].join("\n");
}

function sayChoice({ key, option, label, keep }: AskChoice): string[] {
  if (keep !== undefined) return [`  ${key} … ${label}`];
  const told = option.takesWords ? `${label} (${key} and words)` : label;
  const preview = option.preview === undefined ? [] : [`       that is: ${visible(option.preview)}`];
  return [`  ${key.padEnd(2)} ${visible(told)}`, ...preview];
}

/** Every line is marked, so that none can pass for a line of ours. */
export const indented = (text: string, margin = "  "): string[] =>
  visible(text)
    .split("\n")
    .map((line) => `${margin}│ ${line}`);

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
  await pause(typedAheadMs, undefined, { signal }).catch(() => undefined);
  input.off("data", drop);
  input.pause();
}
