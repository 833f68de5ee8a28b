/**
 * A program in a pseudo-terminal. It sees the machine as its person does (no namespace: a terminal in which `ps`, `sudo`
 * and `kill` do not do what they do elsewhere would be no terminal), and it ends with Keel all the same: every process
 * of it carries a mark, by which it is found and killed when the terminal closes, and by the guard when Keel is gone.
 */
import { constants } from "node:os";
import { type IPty, spawn } from "@lydell/node-pty";
import { commandEnvironment, markVariable, type ProcessEnvironment } from "../processes/environment.ts";
import type { ProcessGuard } from "../processes/process-guard.ts";
import { bornOf } from "../processes/process-table.ts";
import { ProcessTree } from "../processes/process-tree.ts";
import type { TerminalSize } from "./kept-output.ts";

export type PtyCommand = TerminalSize & {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: ProcessEnvironment;
  /** `own`: the environment as it is, for a Keel in a terminal. Otherwise without the keys of the harness. */
  readonly keys: "own" | "withheld";
};

export type ProgramExit = { readonly code: number; readonly signal: string | null };

export type PtyProgram = {
  readonly pid: number;
  write(keys: string): void;
  resize(size: TerminalSize): void;
  pause(): void;
  resume(): void;
  /** The name of the program that has the terminal now. */
  foreground(): string;
  /** Settles when it has ended and all that it had to say was told. */
  readonly exit: Promise<ProgramExit>;
  /** Ends it with all that it started. Resolves when all of it is gone, in less than two seconds. */
  end(): Promise<void>;
};

/** Asked by what a closed terminal sends, then told to end, then killed. */
const graceMs = 700;

export async function startInPty(
  command: PtyCommand,
  { guard, heard }: { guard: ProcessGuard; heard: (text: string) => void },
): Promise<PtyProgram> {
  // The guard stands before there is anything to guard.
  await guard.post();
  const mark = guard.newMark();
  const env = command.keys === "own" ? command.env : commandEnvironment(command.env);
  const pty = spawn(command.file, [...command.args], {
    name: "xterm-256color",
    cols: command.columns,
    rows: command.rows,
    cwd: command.cwd,
    env: { ...withoutOuterTerminal(env), COLORTERM: "truecolor", [markVariable]: mark },
  });
  const since = bornOf(pty.pid);
  pty.onData(heard);
  let hasEnded = false;
  const exit = new Promise<ProgramExit>((resolve) => {
    pty.onExit(({ exitCode, signal }) => {
      hasEnded = true;
      resolve({ code: exitCode, signal: nameOf(signal) });
    });
  });
  let ending: Promise<void> | undefined;
  const end = async (): Promise<void> => {
    // A number that may be somebody else's by now is not used.
    const tree = new ProcessTree({ ...(hasEnded ? {} : { pid: pty.pid }), mark, since });
    tree.signal("SIGHUP");
    // What waits to be read keeps a writer from ending.
    quietly(() => pty.resume());
    await tree.end({ graceMs });
  };
  return {
    pid: pty.pid,
    write: (keys) => quietly(() => pty.write(keys)),
    resize: ({ columns, rows }) => quietly(() => pty.resize(columns, rows)),
    pause: () => quietly(() => pty.pause()),
    resume: () => quietly(() => pty.resume()),
    foreground: () => foregroundOf(pty),
    exit,
    end: () => {
      ending ??= end();
      return ending;
    },
  };
}

/** A terminal that has just closed refuses everything; its exit is told by `exit`. */
function quietly(work: () => void): void {
  try {
    work();
  } catch {
    // Said above.
  }
}

function foregroundOf(pty: IPty): string {
  try {
    return pty.process;
  } catch {
    return "";
  }
}

const nameOf = (signal: number | undefined): string | null =>
  signal
    ? (Object.entries(constants.signals).find(([, number]) => number === signal)?.[0] ?? `SIG${signal}`)
    : null;

/** What tells of the terminal in which the server was started is wrong in this one. */
const outer = [
  "TMUX",
  "TMUX_PANE",
  "STY",
  "WINDOW",
  "WINDOWID",
  "TERMCAP",
  "COLUMNS",
  "LINES",
  "TERM_PROGRAM",
  "TERM_PROGRAM_VERSION",
  "TERM",
];

const withoutOuterTerminal = (env: ProcessEnvironment): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value === undefined || outer.includes(name) ? [] : [[name, value]],
    ),
  );
