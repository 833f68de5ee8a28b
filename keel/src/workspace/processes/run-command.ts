import {
  neverRan,
  type Shell,
  type ShellChunk,
  type ShellCommand,
  type ShellOutcome,
} from "../../ports/shell.ts";

/** Runs a command to its end: what a shell's `run` is, in terms of its `start`. */
export async function* runCommand(
  start: Shell["start"],
  command: ShellCommand,
  signal: AbortSignal,
): AsyncGenerator<ShellChunk, ShellOutcome> {
  if (signal.aborted) return neverRan({ interrupted: true });
  const running = await start(command);
  const interrupt = (): void => void running.stop();
  signal.addEventListener("abort", interrupt, { once: true });
  if (signal.aborted) interrupt();
  try {
    yield* running.follow();
    return await running.over;
  } finally {
    signal.removeEventListener("abort", interrupt);
    // For whoever has lost interest: nobody would hear of the rest.
    await running.stop();
  }
}
