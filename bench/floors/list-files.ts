/** The least that a listing can be: names, times, and both ends of the files that are shown; nothing of it is understood. */
import { open, readdir, stat } from "node:fs/promises";
import path from "node:path";
import { runProgram } from "../program.ts";

const endBytes = 4_096;
const atOnce = 16;

await runProgram(async ({ directory }: { directory: string }) => {
  const startedAt = performance.now();
  await list(directory, 20);
  const newestAt = performance.now();
  const sessions = (await list(directory, Number.POSITIVE_INFINITY)).length;
  return { newestMs: newestAt - startedAt, allMs: performance.now() - newestAt, sessions };
});

async function list(directory: string, limit: number): Promise<Buffer[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith(".jsonl"));
  const found = await inParallel(names, async (name) => {
    const file = path.join(directory, name);
    return { file, ...(await stat(file)) };
  });
  const newest = found.sort((left, right) => right.mtimeMs - left.mtimeMs).slice(0, limit);
  return inParallel(newest, async ({ file, size }) => {
    const handle = await open(file);
    try {
      const ends = Buffer.alloc(2 * endBytes);
      await handle.read(ends, 0, endBytes, 0);
      await handle.read(ends, endBytes, endBytes, Math.max(0, size - endBytes));
      return ends;
    } finally {
      await handle.close();
    }
  });
}

async function inParallel<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let from = 0; from < items.length; from += atOnce)
    results.push(...(await Promise.all(items.slice(from, from + atOnce).map(work))));
  return results;
}
