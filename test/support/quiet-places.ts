// Logs to fold, and the places in them at which a fold could be kept.
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { emptyState, fold } from "../../keel/src/core/state/state.ts";
import { isIdle } from "../../keel/src/core/unload.ts";
import type { Durable } from "../../keel/src/protocol/event/durable.ts";
import { simulate } from "../simulation/run.ts";

const folder = path.join(import.meta.dirname, "../golden/logs");

/** By name. */
export const goldenLogs: readonly [string, Durable[]][] = globSync("*.jsonl", { cwd: folder }).map((name) => [
  name,
  readFileSync(path.join(folder, name), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))
    .filter(({ seq }) => seq !== undefined),
]);

/** Of sessions and their agents that lived in a world that goes wrong. */
export async function* simulatedLogs(seeds: number): AsyncGenerator<[string, Durable[]]> {
  for (let seed = 1; seed <= seeds; seed++) {
    const { logs } = await simulate(seed, { agents: "some" });
    for (const [id, lines] of logs) yield [`seed ${seed}, ${id}`, lines.map((line) => JSON.parse(line))];
  }
}

/** How many events had happened each time the session was quiet. */
export function quietPlaces(events: readonly Durable[]): number[] {
  let state = emptyState;
  return events.flatMap((event, index) => {
    state = fold(state, event);
    return isIdle(state) ? [index + 1] : [];
  });
}
