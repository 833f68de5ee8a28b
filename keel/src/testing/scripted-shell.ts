/** A shell that runs nothing: it answers the commands that its script knows. */
import { whenAborted } from "../kernel/abort.ts";
import { own } from "../kernel/json.ts";
import { byteLength, headBytes, tailBytes } from "../kernel/text.ts";
import type { Clock } from "../ports/clock.ts";
import type { Shell, ShellCommand, ShellOutcome, ShellRun } from "../ports/shell.ts";
import { runCommand } from "../workspace/processes/run-command.ts";
import type { MemoryFiles } from "./memory-files.ts";

export type ShellReply = {
  readonly output?: string;
  /** 0 when it is left out. */
  readonly exitCode?: number;
  /** How long the command runs. `Infinity`: until it is stopped. */
  readonly runsMs?: number;
  /** Files that it has changed when it ends by itself. */
  readonly writes?: Readonly<Record<string, string>>;
  /** Where its shell stands when it ends by itself; where it started when left out. */
  readonly endFolder?: string;
};

/** By the exact text of the command, or a function of it. A command that is not known ends as an unknown one does. */
export type ShellScript =
  | Readonly<Record<string, ShellReply>>
  | ((
      command: { readonly text: string; readonly cwd: string },
      files: MemoryFiles,
    ) => ShellReply | undefined | Promise<ShellReply | undefined>);

type ScriptedShellOptions = {
  readonly script: ShellScript;
  readonly files: MemoryFiles;
  readonly clock: Clock;
  readonly note: (effect: string) => void;
};

export function scriptedShell({ script, files, clock, note }: ScriptedShellOptions): Shell {
  async function replyTo(command: ShellCommand): Promise<ShellReply> {
    const known = typeof script === "function" ? await script(command, files) : own(script, command.text);
    return known ?? { output: `${command.text.split(" ")[0]}: command not found\n`, exitCode: 127 };
  }

  async function start(command: ShellCommand): Promise<ShellRun> {
    note(`run ${command.text}`);
    const reply = await replyTo(command);
    const { output = "", exitCode = 0, runsMs = 0, writes = {}, endFolder = command.cwd } = reply;
    const stopping = new AbortController();
    const limit = new AbortController();
    const work = async (): Promise<ShellOutcome> => {
      const done = sleepUnlessEndless(clock, runsMs, stopping.signal).then(() => "done" as const);
      const late = sleepUnlessEndless(clock, command.timeoutMs, limit.signal).then(() =>
        limit.signal.aborted ? done : ("late" as const),
      );
      const timedOut = (await Promise.race([done, late])) === "late";
      limit.abort();
      if (stopping.signal.aborted) return ended(command, output, { interrupted: true });
      if (timedOut) return ended(command, output, { timedOut: true });
      for (const [path, content] of Object.entries(writes)) files.put(path, content);
      return { ...ended(command, output, { exitCode }), ...(command.endFolder ? { endFolder } : {}) };
    };
    const over = work();
    return {
      over,
      follow: async function* () {
        if (output !== "") yield { text: output };
        await over;
      },
      output: () => output,
      saveTo: () => undefined,
      goOn: () => limit.abort(),
      stop: async () => {
        stopping.abort();
        await over;
      },
      left: () => undefined,
    };
  }

  return { start, run: (command, signal) => runCommand(start, command, signal) };
}

const sleepUnlessEndless = (clock: Clock, ms: number, signal: AbortSignal): Promise<void> =>
  Number.isFinite(ms) ? clock.sleep(ms, signal) : whenAborted(signal);

function ended(
  command: ShellCommand,
  output: string,
  {
    exitCode,
    timedOut = false,
    interrupted = false,
  }: { exitCode?: number; timedOut?: boolean; interrupted?: boolean },
): ShellOutcome {
  const stopped = exitCode === undefined;
  return {
    exitCode: stopped ? null : exitCode,
    signal: stopped ? "SIGKILL" : null,
    timedOut,
    interrupted,
    ...bounded(output, command.maxBytes),
  };
}

function bounded(output: string, maxBytes: number): { output: string; omittedBytes: number } {
  const bytes = byteLength(output);
  if (bytes <= maxBytes) return { output, omittedBytes: 0 };
  const head = headBytes(output, Math.floor(maxBytes / 2));
  const tail = tailBytes(output, Math.ceil(maxBytes / 2));
  return { output: `${head}\n…\n${tail}`, omittedBytes: bytes - byteLength(head) - byteLength(tail) };
}
