/** A command that says by its exit code whether a folder is as it should be. */
import { fault } from "../../kernel/fault.ts";
import type { ProcessEnvironment } from "../../workspace/processes/environment.ts";
import { groupGuard } from "../../workspace/processes/process-guard.ts";
import { nodeShell } from "../../workspace/processes/shell.ts";

export type CheckRun = { readonly exitCode: number | null; readonly output: string };

export type FolderChecks = AsyncDisposable & {
  /** Whatever it left running is ended. Throws `aborted`. */
  run(command: string, cwd: string): Promise<CheckRun>;
};

export function folderChecks({
  env,
  timeoutMs,
  signal,
}: {
  readonly env: ProcessEnvironment;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}): FolderChecks {
  const guard = groupGuard();
  const shell = nodeShell({ env, guard });
  return {
    async run(command, cwd) {
      const running = await shell.start({ text: command, cwd, timeoutMs, maxBytes: 64 * 1024 });
      const stop = (): void => void running.stop();
      signal.addEventListener("abort", stop, { once: true });
      if (signal.aborted) stop();
      const { exitCode, output } = await running.over;
      signal.removeEventListener("abort", stop);
      // What it left running would work on what comes next.
      await running.stop();
      if (signal.aborted) throw fault("aborted");
      return { exitCode, output };
    },
    [Symbol.asyncDispose]: () => guard.close(),
  };
}
