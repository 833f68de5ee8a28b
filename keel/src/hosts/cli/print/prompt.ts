/** The prompt: from the arguments, from standard input, or from both, joined. */
import { on } from "node:events";
import { usage } from "../../../app/flags/arguments.ts";
import type { Context } from "../context.ts";

/** More than any model reads at once; a longer text belongs into a file. */
const maxBytes = 10 * 1024 * 1024;
/** A program may start us with an open pipe that it never writes to: with a prompt given, we do not wait for ever. */
const defaultSilenceMs = 3_000;

type PromptStreams = Pick<Context, "input" | "err">;

/** Undefined when there is none. */
export async function readPrompt(
  words: readonly string[],
  place: PromptStreams,
  silenceMs = defaultSilenceMs,
): Promise<string | undefined> {
  const given = words.join(" ").trim();
  const waitMs = given === "" ? Number.POSITIVE_INFINITY : silenceMs;
  const piped = place.input.isTTY ? "" : (await readInput(place, waitMs)).trim();
  return [given, piped].filter((part) => part !== "").join("\n\n") || undefined;
}

async function readInput({ input, err }: PromptStreams, waitMs: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const silent = new AbortController();
  const timer = Number.isFinite(waitMs) ? setTimeout(() => silent.abort(), waitMs) : undefined;
  try {
    for await (const chunk of until(input, silent.signal)) {
      clearTimeout(timer);
      bytes += chunk.length;
      if (bytes > maxBytes) throw usage(`Standard input is longer than ${maxBytes} bytes.`);
      chunks.push(chunk);
    }
  } finally {
    clearTimeout(timer);
  }
  if (silent.signal.aborted) {
    err.line(`keel: nothing came on standard input for ${waitMs / 1000} seconds; going on without it.`);
  }
  return decode(Buffer.concat(chunks));
}

/** The chunks of the input, until its end or until the signal fires. A broken input is an ended one. */
async function* until(input: Context["input"], signal: AbortSignal): AsyncGenerator<Buffer> {
  try {
    for await (const [chunk] of on(input, "data", { close: ["end", "close"], signal }))
      yield Buffer.from(chunk);
  } catch {
    // It broke, or was silent for too long: nothing more is wanted of it.
  } finally {
    input.pause();
    // An error that comes later has nobody to tell; without a listener it would end the process.
    input.on("error", () => undefined);
  }
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw usage("Standard input is not text in UTF-8.");
  }
}
