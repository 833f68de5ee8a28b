/** One lock for all settings and for the book of trust, held by the kernel: a killed process frees it at once. */
import { chmod, mkdir } from "node:fs/promises";
import path from "node:path";
import type { Lock } from "../../config/settings/save.ts";
import { fault } from "../../kernel/fault.ts";
import type { Clock } from "../../ports/clock.ts";
import { lockFile } from "../../store/jsonl/lease.ts";
import { nodeClock } from "../node-ports.ts";

/** A save takes milliseconds; whoever waits longer than this is told. */
const maxWaitMs = 20_000;
const retryMs = 4;

/** `run`: the folder of Keel's own for what runs. */
export function settingsLock({ run }: { run: string }): Lock {
  const file = path.join(run, "settings-guard");
  return async (work) => {
    await mkdir(run, { recursive: true, mode: 0o700 });
    const lock = await take(file, nodeClock());
    try {
      await chmod(file, 0o600);
      return await work();
    } finally {
      lock.release();
    }
  };
}

async function take(file: string, clock: Clock): Promise<{ release(): void }> {
  const began = clock.monotonicMs();
  // A save is not interrupted: it is over in a moment.
  const { signal } = new AbortController();
  for (;;) {
    const lock = await lockFile(file);
    if (lock) return lock;
    if (clock.monotonicMs() - began > maxWaitMs)
      throw fault("out_of_time", { what: "Waiting for others to save settings", seconds: maxWaitMs / 1000 });
    await clock.sleep(retryMs, signal);
  }
}
