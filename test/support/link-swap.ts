// A second process that swaps a directory for a link and back, as fast as it can.
import { spawn } from "node:child_process";
import { once } from "node:events";

const program = `
  import { renameSync, rmSync, symlinkSync, unlinkSync, writeSync } from "node:fs";
  const [directory, target, restMs] = process.argv.slice(1);
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
  const rest = () => new Promise((resolve) => setTimeout(resolve, Number(restMs)));
  for (let swaps = 0; ; swaps++) {
    renameSync(directory, away);
    put(() => symlinkSync(target, directory));
    if (swaps === 0) writeSync(1, "swapping");
    await pause();
    unlinkSync(directory);
    put(() => renameSync(away, directory));
    await (Number(restMs) > 0 && swaps % 100 === 99 ? rest() : pause());
  }`;

/**
 * It resolves once the first swap was made: what is tried before that races with nobody. With `restMs` the directory is
 * left alone for so long after every hundred swaps, for what takes longer than a swap and would never end well.
 */
export async function swapWithLink(
  directory: string,
  target: string,
  { restMs = 0 }: { restMs?: number } = {},
): Promise<{ stop(): Promise<void> }> {
  const words = ["--input-type=module", "-e", program, directory, target, String(restMs)];
  const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] });
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
