/**
 * The inside of a measured process. Its options come as JSON in the first argument; its result leaves as one line of
 * JSON, with the most memory that the process ever held and the processor time that it took from start to end.
 */
import { readFileSync } from "node:fs";

export type Outcome<R> = { readonly result: R; readonly peakBytes: number; readonly cpuMs: number };

export async function runProgram<O, R>(work: (options: O) => Promise<R>): Promise<void> {
  const options: O = JSON.parse(process.argv[2] ?? "{}");
  const result = await work(options);
  const { user, system } = process.cpuUsage();
  const outcome: Outcome<R> = { result, peakBytes: peakBytes(), cpuMs: (user + system) / 1000 };
  process.stdout.write(`${JSON.stringify(outcome)}\n`);
}

/** The heap and what hangs on it, after everything that is not held has gone. Needs `--expose-gc`. */
export async function heldBytes(): Promise<number> {
  // Finalisers of the first collection let go of what the second one takes.
  for (let times = 0; times < 2; times++) {
    globalThis.gc?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** How much later than they should timers of the loop come, 99 of 100 times at most, while something is done. */
export async function watchedLoop(work: () => Promise<void>): Promise<number> {
  const everyMs = 2;
  const late: number[] = [];
  let last = performance.now();
  const look = (): void => {
    const now = performance.now();
    late.push(Math.max(0, now - last - everyMs));
    last = now;
  };
  const timer = setInterval(look, everyMs);
  await work();
  clearInterval(timer);
  // What was held up to the very end.
  look();
  return late.toSorted((left, right) => left - right)[Math.floor(late.length * 0.99)] ?? 0;
}

/** The kernel's own mark. `maxRSS` will not do: a child starts with the peak of the process that started it. */
function peakBytes(): number {
  if (process.platform !== "linux") return process.resourceUsage().maxRSS * 1024;
  const found = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"));
  if (!found) throw new Error("The kernel does not tell the peak memory of a process.");
  return Number(found[1]) * 1024;
}
