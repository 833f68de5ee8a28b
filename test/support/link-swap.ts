// A second process that swaps a directory for a link and back, as fast as it can.
import { spawn } from "node:child_process";
import { once } from "node:events";

const program = `
  import { renameSync, rmSync, symlinkSync, unlinkSync, writeSync } from "node:fs";
  const [directory, target] = process.argv.slice(1);
  const away = directory + ".away";
  process.on("SIGTERM", () => process.exit(0));
  const pause = () => new Promise((resolve) => setImmediate(resolve));
  // For a moment there is no directory, and the writer may make one: it is cleared away, however often.
  const put = (act) => {
    for (;;) {
      try {
        return act();
      } catch {
        try { rmSync(directory, { recursive: true, force: true }); } catch { continue; }
      }
    }
  };
  for (let told = false; ; ) {
    renameSync(directory, away);
    put(() => symlinkSync(target, directory));
    if (!told) told = writeSync(1, "swapping") > 0;
    await pause();
    unlinkSync(directory);
    put(() => renameSync(away, directory));
    await pause();
  }`;

/** It resolves once the first swap was made: what is tried before that races with nobody. */
export async function swapWithLink(directory: string, target: string): Promise<{ stop(): Promise<void> }> {
  const child = spawn(process.execPath, ["--input-type=module", "-e", program, directory, target], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  await Promise.race([once(child.stdout, "data"), ended]);
  return {
    async stop() {
      child.kill("SIGTERM");
      const code = await ended;
      if (code !== 0) throw new Error(`The swapping did not go on to the end: it ended with ${code}.`);
    },
  };
}
