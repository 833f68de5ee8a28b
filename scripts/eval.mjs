// `npm run eval`: builds, and runs the cases for Keel itself on the scripted model. Further words go to `keel eval`.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { run } from "./run.mjs";

const built = await run(process.execPath, ["scripts/build.mjs"]);
if (built !== 0) process.exit(built);
// Nobody's own settings and keys count.
const home = mkdtempSync(path.join(tmpdir(), "keel-eval-home-"));
process.env["KEEL_HOME"] = home;
try {
  process.exitCode = await run(process.execPath, [
    "keel/bin/start.cjs",
    "eval",
    "test/evals",
    ...process.argv.slice(2),
  ]);
} finally {
  rmSync(home, { recursive: true, force: true });
}
