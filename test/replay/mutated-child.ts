// Replays logs with one source changed: started with the change and the file of the logs, says what it found.
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import type { SourceChange } from "./mutations.ts";

const [change = "", logs = ""] = process.argv.slice(2);
const { file, find, put }: SourceChange = JSON.parse(change);
let changed = 0;
registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    if (!url.endsWith(`keel/src/${file}`)) return loaded;
    const source = String(loaded.source);
    if (source.split(find).length !== 2) throw new Error(`${file} does not hold this once: ${find}`);
    changed++;
    return { ...loaded, source: source.replace(find, () => put) };
  },
});
const { replayLog } = await import("../../keel/src/time/replay/replay.ts");
const { defaultLimits } = await import("../../keel/src/core/limits.ts");
const { simulatedInfo } = await import("../simulation/model.ts");
const { simulatedSums } = await import("../simulation/sums.ts");
const world = {
  model: { info: simulatedInfo, prepare: simulatedSums },
  limits: { ...defaultLimits, maxObjections: 3 },
};
let difference: unknown;
for (const events of JSON.parse(readFileSync(logs, "utf8"))) {
  difference ??= (await replayLog(events, world)).difference;
  if (difference) break;
}
process.stdout.write(JSON.stringify({ changed, difference }));
