import { mkdtemp } from "node:fs/promises";
import { consoleSuite } from "./suites/console.ts";
import { fullCounts } from "./counts.ts";
import { measure } from "./measure.ts";
import { bundlePrograms } from "./processes.ts";
const folder = () => mkdtemp("/tmp/webb-some-");
const names = (process.argv[2] ?? "streaming").split(",");
const counts = { ...fullCounts, ...JSON.parse(process.argv[4] ?? "{}") };
const programs = await bundlePrograms(await folder());
const suite = await consoleSuite({ counts, programs, folder, bareStartBytes: 0 });
for (const contest of suite.contests.filter(({ name }) => names.includes(name))) {
  const at = performance.now();
  try {
    const { results } = await measure({ contests: [contest], grounds: [] }, { rounds: Number(process.argv[3] ?? 1), tell: (what) => console.log(new Date().toISOString().slice(11, 19), what) });
    for (const { figure, keel, floor, ratio, goal } of results) console.log(figure, "| keel", keel.median.toFixed(1), "| floor", floor.median.toFixed(1), "| ratio", ratio.toFixed(2), "|", goal?.kind, goal?.most, goal?.met ? "met" : "MISSED");
  } catch (thrown) { console.log("failed", thrown); }
  console.log(contest.name, "took", Math.round((performance.now() - at) / 1000), "s");
}
await suite.close();
process.exit(0);
