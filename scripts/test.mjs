// `npm test`: builds, runs every suite with sample counts, and closes with the counts and what was not run here.
// Further words go to vitest: `npm test -- architecture`.
import { printClosing, run, runVitest } from "./run.mjs";

const words = process.argv.slice(2);
const built = await run(process.execPath, ["scripts/build.mjs"]);
if (built !== 0) {
  console.log("not run here: everything (the build failed)");
  process.exit(built);
}

// Only a whole run may say which requirements are proven.
const reportTo = words.length === 0 ? ".keel-test/requirements.json" : undefined;
const outcome = await runVitest(["--project", "unit", "--project", "e2e", ...words], { reportTo });
printClosing(outcome);
process.exitCode = outcome.code;
