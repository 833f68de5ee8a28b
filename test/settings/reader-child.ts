// A process that reads a settings file over and over until its input ends, and says what it found: how often it read,
// and how often the file was not whole or had gone backwards.
import { writeSync } from "node:fs";
import { setImmediate as breathe } from "node:timers/promises";
import { readPlainText } from "../../keel/src/config/settings/plain-text.ts";
import { countsIn } from "./counts.ts";

const [file = ""] = process.argv.slice(2);
let goesOn = true;
process.stdin.on("end", () => {
  goesOn = false;
});
process.stdin.resume();

let reads = 0;
let wrong = 0;
let last = 0;
while (goesOn) {
  const read = await readPlainText(file, { links: "refuse" });
  try {
    const { ALL = 0, ...own } = await countsIn(read.kind === "text" ? read.text : read.kind);
    const sum = Object.values(own).reduce((total, one) => total + one, 0);
    if (sum !== ALL || ALL < last) wrong += 1;
    last = ALL;
  } catch {
    wrong += 1;
  }
  reads += 1;
  await breathe();
}
writeSync(1, `${JSON.stringify({ reads, wrong })}\n`);
