/** A program on a terminal of its own: what is typed, what it writes and when, and the processor time that it takes. */
import { readdirSync, readFileSync } from "node:fs";
import pty from "@lydell/node-pty";

export type OnTerminal = {
  readonly startedAt: number;
  type(text: string): void;
  /** All that it has written. */
  written(): string;
  /** When these words stood in what it wrote after `from`. Throws when they do not come. */
  wrote(words: string, from?: number): Promise<number>;
  /** Of the program and those below it, since it started. */
  cpuMs(): number;
  /** Of the program alone, now. */
  residentMb(): number;
  /** Of the program and all that it has started, now. */
  treeResidentMb(): number;
  /** What it has written so far is of no use any more: nothing that comes is looked for in it. */
  forget(): void;
  close(): void;
};

const maxMs = 60_000;

export type OnTerminalOptions = {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** What the terminal says where it is asked; nothing where it is left out. */
  readonly answers?: Readonly<Record<string, string>>;
};

export function onTerminal(
  command: string,
  parameters: readonly string[],
  { env, cwd, answers = {} }: OnTerminalOptions,
): OnTerminal {
  let text = "";
  const waiting = new Set<() => void>();
  const startedAt = performance.now();
  const child = pty.spawn(command, [...parameters], {
    cols: 100,
    rows: 40,
    cwd,
    env: { PATH: process.env["PATH"], TERM: "xterm-256color", LANG: "C.UTF-8", ...env },
  });
  child.onData((data) => {
    text += data;
    for (const [question, answer] of Object.entries(answers))
      if (data.includes(question)) child.write(answer);
    for (const look of [...waiting]) look();
  });
  return {
    startedAt,
    type: (keys) => child.write(keys),
    written: () => text,
    wrote: (words, from = 0) =>
      new Promise((resolve, reject) => {
        const late = setTimeout(() => {
          waiting.delete(look);
          reject(new Error(`${command} never wrote ${words}: ${JSON.stringify(text.slice(-400))}`));
        }, maxMs);
        const look = (): void => {
          if (text.indexOf(words, from) < 0) return;
          clearTimeout(late);
          waiting.delete(look);
          resolve(performance.now());
        };
        waiting.add(look);
        look();
      }),
    cpuMs: () => treeCpuMs(child.pid),
    residentMb: () => residentMb(child.pid),
    treeResidentMb: () => treeOf(child.pid).reduce((sum, pid) => sum + residentMb(pid), 0),
    forget: () => {
      text = "";
    },
    close: () => child.kill("SIGKILL"),
  };
}

/** Zero where it has ended while we looked. */
function residentMb(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1_024;
  } catch {
    return 0;
  }
}

/** The kernel counts in hundredths of a second. */
const msPerTick = 10;

const treeCpuMs = (pid: number): number => treeOf(pid).reduce((sum, one) => sum + ownCpuMs(one), 0);

function ownCpuMs(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) * msPerTick;
  } catch {
    return 0;
  }
}

/** A process and all below it, as far as they are still there. */
function treeOf(pid: number): number[] {
  try {
    const below = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean),
    );
    return [pid, ...below.flatMap((child) => treeOf(Number(child)))];
  } catch {
    return [];
  }
}
