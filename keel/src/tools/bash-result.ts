/** What is said about a command that ran: to the model, to a screen, to a program. */
import { constants } from "node:os";
import type { Violation } from "../ports/sandbox.ts";
import type { LeftBehind, ShellOutcome } from "../ports/shell.ts";
import type { Task } from "../ports/tasks.ts";
import type { ToolOutcome } from "../ports/tool.ts";
import { text } from "../protocol/message.ts";

const second = 1_000;
/** What screens and programs are given of an output, since that stands in the log. */
const maxShownCharacters = 30_000;

type Ended = {
  readonly command: string;
  readonly timeoutMs: number;
  readonly outcome: ShellOutcome;
  readonly terminal?: string | undefined;
};
type Left = { readonly left: LeftBehind; readonly task: Task };

type AfterRun = {
  readonly left: Left | undefined;
  readonly stand: FolderStand;
  /** What the sandbox kept it from. */
  readonly refused?: readonly Violation[];
  readonly leave?: "may be asked for" | "is not allowed";
};

/** Where the next command starts, if elsewhere, and what the model is told of it. */
export type FolderStand = { readonly keptFolder?: string; readonly said?: string };

export const folderUnknown = (cwd: string): string =>
  `[The next command starts in ${cwd} again: where this one ended is not known]`;
export const folderOutside = (folder: string, cwd: string): string =>
  `[The next command starts in ${cwd} again: ${folder} is no folder of the workspace]`;

/** It ended while it was waited for. */
export function endedResult(
  { command, timeoutMs, outcome, terminal }: Ended,
  { left, stand, refused = [], leave = "is not allowed" }: AfterRun,
): ToolOutcome {
  const output = outcome.output.replace(/\n+$/, "");
  const shown = middleOut(output);
  const exitCode = exitCodeOf(outcome);
  const failed = exitCode !== 0 || outcome.timedOut || outcome.interrupted;
  const words = [
    ...(failed ? howItEnded(outcome, { exitCode, timeoutMs }) : []),
    ...(output === "" ? [] : [output]),
  ];
  const said = words.length === 0 ? "(Bash completed with no output)" : words.join("\n");
  const notes = [
    ...(left ? [stillRunning(left)] : []),
    ...(refused.length > 0 ? [sandboxRefused(refused, leave)] : []),
    ...(stand.said === undefined ? [] : [stand.said]),
  ];
  return {
    content: [text([said, ...notes].join("\n"))],
    ...(stand.keptFolder === undefined ? {} : { keptFolder: stand.keptFolder }),
    display: {
      kind: "terminal",
      command,
      output: shown,
      exitCode,
      ...(terminal === undefined ? {} : { terminal }),
    },
    failed,
    data: {
      stdout: shown,
      stderr: "",
      interrupted: outcome.interrupted,
      ...plain,
      ...(outcome.timedOut ? { timedOutAfterMs: timeoutMs } : {}),
    },
  };
}

/** In words that can be acted on: what it was, and what there is to do about it. */
function sandboxRefused(violations: readonly Violation[], leave: AfterRun["leave"]): string {
  const what = violations.map(({ kind, target }) => `${attempts[kind]} ${target}`).join(", ");
  const outside =
    leave === "may be asked for"
      ? " If the command needs it, call Bash again with dangerouslyDisableSandbox: the user is asked."
      : "";
  return `[The sandbox refused: ${what}. Files outside of the workspace, settings that others run and hosts that are not allowed cannot be reached; work inside the workspace and use $TMPDIR.${outside}]`;
}

const attempts: Readonly<Record<Violation["kind"], string>> = {
  write: "to write",
  read: "to read",
  network: "to reach",
  socket: "to connect to",
  system: "to use",
};

/** What programs look for, and what no command here is. */
const plain = { isImage: false, noOutputExpected: false } as const;

/** It was interrupted before it began. */
export function notStarted(command: string): ToolOutcome {
  return {
    content: [text("Interrupted before the command was started.")],
    display: { kind: "terminal", command, output: "", exitCode: null },
    failed: true,
    data: { stdout: "", stderr: "", interrupted: true, ...plain },
  };
}

/** It goes on in the background. */
export function backgroundResult(
  { id, data }: Task,
  { command, sofar }: { command: string; sofar?: string },
): ToolOutcome {
  const begun =
    sofar === undefined
      ? `It runs in the background as task ${id}.`
      : `The user moved it to the background; it continues as task ${id}.`;
  const where =
    data.outputFile === undefined ? "" : ` Its output goes to ${data.outputFile}; TaskOutput shows it too.`;
  const end = " You will be notified when it ends, so there is no need to poll; TaskStop stops it.";
  const shown = middleOut(sofar ?? "");
  return {
    content: [
      text(`${begun}${where}${end}`),
      ...(shown.trim() === "" ? [] : [text(`Output so far:\n${shown}`)]),
    ],
    display: { kind: "terminal", command, output: shown, exitCode: null },
    data: { stdout: shown, stderr: "", interrupted: false, ...plain, backgroundTaskId: id },
  };
}

function stillRunning({ left, task }: Left): string {
  const [count, what] = [left.processes, left.processes === 1 ? "process" : "processes"];
  return `[${count} ${what} of this command still running, as task ${task.id}; TaskStop ends it]`;
}

function howItEnded(
  { timedOut, interrupted, signal }: ShellOutcome,
  { exitCode, timeoutMs }: { exitCode: number | null; timeoutMs: number },
): string[] {
  if (interrupted) return ["The command was interrupted; it may have had effects."];
  const exit = `Exit code ${exitCode ?? "unknown"}`;
  if (timedOut) return [exit, `Command timed out after ${timeoutMs / second}s`];
  return signal ? [exit, `Ended by ${signal}`] : [exit];
}

/** As a shell tells it: 128 and the number of the signal. */
function exitCodeOf({ exitCode, signal }: ShellOutcome): number | null {
  if (exitCode !== null) return exitCode;
  const number = Object.entries(constants.signals).find(([name]) => name === signal)?.[1];
  return number === undefined ? null : 128 + number;
}

export function middleOut(output: string, maxCharacters = maxShownCharacters): string {
  if (output.length <= maxCharacters) return output;
  const half = Math.floor(maxCharacters / 2);
  return `${output.slice(0, half)}\n\n[… ${output.length - 2 * half} characters left out …]\n\n${output.slice(-half)}`;
}
