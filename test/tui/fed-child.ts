// The screen on recorded events, on the terminal of this process: scene after scene, each until a signal. The clock goes
// on once, soon after all of a scene was told, and stands still from then on, so that nothing on it moves any more; then
// the title says so.
import { readFileSync } from "node:fs";
import { runScreen } from "../../keel/src/hosts/tui/screen/run.ts";
import { setTitle } from "../../keel/src/hosts/tui/writer/modes.ts";
import { type FedScene, fedHost } from "./fed.ts";

/** What is read before it is answered has been read by then. */
const movesMs = 400;
/** When the clock goes on; and when the screen has looked at it, which it does about four times a second. */
const movesAfterMs = 100;
const stillAfterMs = 450;

const scenes: readonly FedScene[] = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8"));
for (const [index, scene] of scenes.entries()) {
  const next = new AbortController();
  process.once("SIGUSR2", () => next.abort());
  process.stdout.write(`=== ${index}\r\n`);
  let elapsed = 0;
  const timers: NodeJS.Timeout[] = [];
  const onTold = (): void => {
    const moves = setTimeout(() => {
      elapsed = movesMs;
    }, movesAfterMs);
    const still = setTimeout(() => process.stdout.write(setTitle(`still ${index}`)), stillAfterMs);
    timers.push(moves, still);
  };
  await runScreen({
    ...fedHost(scene, { elapsed: () => elapsed, process, onTold }),
    signal: next.signal,
  });
  for (const timer of timers) clearTimeout(timer);
}
process.exit(0);
