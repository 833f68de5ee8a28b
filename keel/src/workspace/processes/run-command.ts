import type { Shell, ShellChunk, ShellCommand, ShellOutcome } from "../../ports/shell.ts";

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

/** What there is to say of a command that was never started. */
export const neverRan = (said: Partial<ShellOutcome>): ShellOutcome => ({
  exitCode: null,
  signal: null,
  timedOut: false,
  interrupted: false,
  output: "",
  omittedBytes: 0,
  ...said,
});
