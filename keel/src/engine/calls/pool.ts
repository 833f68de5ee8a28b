/**
 * Runs the calls of one reply: concurrent ones overlap, any other runs alone, and nobody overtakes: a concurrent call
 * behind a lone one waits for it, so that a read after a write sees the write.
 */
export type PoolJob = { readonly concurrent: boolean; run(): Promise<void> };

export async function runInOrder(
  jobs: readonly PoolJob[],
  { maxAtOnce }: { maxAtOnce: number },
): Promise<void> {
  let rest = jobs;
  while (rest.length > 0) {
    const stop = rest.findIndex(({ concurrent }) => !concurrent);
    const together = stop < 0 ? rest : rest.slice(0, Math.max(1, stop));
    await runTogether(together, maxAtOnce);
    rest = rest.slice(together.length);
  }
}

/** All jobs settle, also when one throws; then the first thing thrown is thrown. */
async function runTogether(jobs: readonly PoolJob[], maxAtOnce: number): Promise<void> {
  const waiting = [...jobs];
  const worker = async (): Promise<void> => {
    for (let job = waiting.shift(); job; job = waiting.shift()) await job.run();
  };
  const workers = Array.from({ length: Math.min(maxAtOnce, jobs.length) }, worker);
  for (const outcome of await Promise.allSettled(workers))
    if (outcome.status === "rejected") throw outcome.reason;
}
