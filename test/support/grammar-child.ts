// Parses many commands with the real grammar and says how much memory that took, in megabytes.
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { openGrammar } from "../../keel/src/workspace/processes/grammar.ts";

const grammar = openGrammar();
const folder = process.argv[2] ?? "";
const texts = globSync("*.txt", { cwd: folder }).flatMap((name) =>
  readFileSync(path.join(folder, name), "utf8").split("\n"),
);
let understood = 0;
for (let round = 0; round < 30; round++)
  for (const text of texts) if (await grammar.parse(text)) understood++;
// What works beside the program on faster code is done by then.
await new Promise((resolve) => setTimeout(resolve, 1_000));
const peak = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
process.stdout.write(JSON.stringify({ understood, peakMb: Number(peak) / 1024 }));
