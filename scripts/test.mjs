// `npm test`: builds, runs every suite with sample counts, and closes with the counts and what was not run here.
// Further words go to vitest: `npm test -- architecture`.
import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { join, printClosing, root, run, runVitest } from "./run.mjs";

const words = process.argv.slice(2);
const built = await run(process.execPath, ["scripts/build.mjs"]);
if (built !== 0) {
  console.log("not run here: everything (the build failed)");
  process.exit(built);
}

const projects = (...names) => names.flatMap((name) => ["--project", name]);
const outcome = words.length > 0 ? await runPart() : await runWhole();
printClosing(outcome);
process.exitCode = outcome.code;

function runPart() {
  return runVitest([...projects("unit", "e2e", "waiting"), ...words]);
}

/** What waits more than it works has a worker of its own beside the others, and is told after them. */
async function runWhole() {
  // Only a whole run may say which requirements are proven.
  const proven = path.join(root, ".keel-test/requirements.json");
  await rm(proven, { force: true });
  const [others, waiting] = await Promise.all([
    runVitest(projects("unit", "e2e")),
    runVitest([...projects("waiting"), "--maxWorkers=1"], { isQuiet: true }),
  ]);
  process.stdout.write(waiting.output);
  const whole = join(others, waiting);
  if (whole.report) {
    await mkdir(path.dirname(proven), { recursive: true });
    await writeFile(proven, `${JSON.stringify(whole.report, null, 2)}\n`);
  }
  return whole;
}
