/** The lines that a person types: each is an answer where a question stands, and else something to say. */
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import type { Context } from "../context.ts";
import type { ReadAnswer } from "../terminal/terminal.ts";

/** What was typed before the question was shown is no answer to it, and not meant as one. */
const typedAheadMs = 150;

export type TypedLines = {
  readonly readAnswer: ReadAnswer;
  /** Settles when nothing more can be typed. */
  readonly ended: Promise<void>;
  close(): void;
};

export function typedLines(
  { input, err }: Pick<Context, "input" | "err">,
  listener: (line: string) => void,
): TypedLines {
  const ended = Promise.withResolvers<void>();
  let answer: ((line: string) => void) | undefined;
  // Without raw mode: Ctrl-C stays a signal.
  const lines = createInterface({ input, terminal: false });
  lines.on("line", (line) => {
    const take = answer ?? listener;
    answer = undefined;
    take(line);
  });
  lines.once("close", ended.resolve);
  return {
    async readAnswer(words, signal) {
      answer = () => err.line("(typed before the question was there: not sent)");
      await pause(typedAheadMs, undefined, { signal }).catch(() => undefined);
      answer = undefined;
      if (signal.aborted) return undefined;
      err.write(words);
      return new Promise((resolve) => {
        const withdraw = (): void => {
          if (answer === take) answer = undefined;
          err.write("\n");
          resolve(undefined);
        };
        const take = (line: string): void => {
          signal.removeEventListener("abort", withdraw);
          resolve(line);
        };
        answer = take;
        signal.addEventListener("abort", withdraw, { once: true });
      });
    },
    ended: ended.promise,
    close: () => lines.close(),
  };
}
