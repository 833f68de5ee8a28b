// The screen on recorded events, on the terminal of this process: scene after scene, each until a signal. The clock
// stands still soon after a scene has begun, so that nothing on it moves any more; then the title says so.
import { readFileSync } from "node:fs";
import { runScreen } from "../../keel/src/hosts/tui/screen/run.ts";
import { setTitle } from "../../keel/src/hosts/tui/writer/modes.ts";
import { type FedScene, fedHost } from "./fed.ts";

/** What is read before it is answered has been read by then. */
const movesMs = 400;

const scenes: readonly FedScene[] = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8"));
for (const [index, scene] of scenes.entries()) {
  const next = new AbortController();
  process.once("SIGUSR2", () => next.abort());
  process.stdout.write(`=== ${index}\r\n`);
  const began = Date.now();
  const elapsed = (): number => Math.min(Date.now() - began, movesMs);
  const still = setTimeout(() => process.stdout.write(setTitle(`still ${index}`)), movesMs + 300);
  await runScreen({ ...fedHost(scene, { elapsed, process }), signal: next.signal });
  clearTimeout(still);
}
process.exit(0);
