// `npm run requirements`: which requirements a passing test of the last `npm test` has proven, and which not yet.
import { existsSync, readFileSync } from "node:fs";
import { groups, requirements } from "../test/support/requirements.ts";
import type { Report } from "../test/support/requirements-reporter.ts";

const file = new URL("../.keel-test/requirements.json", import.meta.url);
if (!existsSync(file)) {
  console.error("No run to read: `npm test` writes it.");
  process.exit(1);
}
const report: Report = JSON.parse(readFileSync(file, "utf8"));

const totals: string[] = [];
let provenOverall = 0;
for (const [group, sentences] of Object.entries(groups)) {
  console.log(`\n${group}`);
  let proven = 0;
  for (const [id, sentence] of Object.entries(sentences)) {
    const tests = report.citations[id];
    const isProven = tests !== undefined && tests.passed.length > 0 && tests.failed.length === 0;
    if (isProven) proven += 1;
    console.log(`  ${isProven ? "proven " : "not yet"} ${id.padEnd(6)} ${sentence}${evidenceOf(tests)}`);
  }
  provenOverall += proven;
  totals.push(`${group.padEnd(12)} ${proven} of ${Object.keys(sentences).length}`);
}

console.log(
  `\nRun of ${report.at}: ${report.passed} tests passed, ${report.failed} failed, ${report.skipped} skipped`,
);
for (const line of totals) console.log(line);
console.log(`${"all".padEnd(12)} ${provenOverall} of ${Object.keys(requirements).length}`);

function evidenceOf(tests: Report["citations"][string] | undefined): string {
  if (!tests) return "";
  const failed = tests.failed.length > 0 ? `, ${tests.failed.length} FAILED` : "";
  return ` [${tests.passed.length} tests${failed}]`;
}
