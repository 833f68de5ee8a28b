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
  close(): void;
};

const maxMs = 60_000;

export function onTerminal(
  command: string,
  parameters: readonly string[],
  { env, cwd }: { readonly env: Readonly<Record<string, string>>; readonly cwd: string },
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
    residentMb: () =>
      Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1]) / 1_024,
    close: () => child.kill("SIGKILL"),
  };
}

/** The kernel counts in hundredths of a second. */
const msPerTick = 10;

function treeCpuMs(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const own = (Number(fields[11]) + Number(fields[12])) * msPerTick;
    const below = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean),
    );
    return below.reduce((sum, child) => sum + treeCpuMs(Number(child)), own);
  } catch {
    return 0; // It ended while we looked.
  }
}
