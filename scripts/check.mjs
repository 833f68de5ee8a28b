// `npm run check`: builds (examples, the page and some tests look at what is built), then format and lint, types, the
// lock, and the unit tests with the architecture among them.
// Every step runs even when an earlier one failed, so that one run shows all there is to mend.
import { spawn } from "node:child_process";
import path from "node:path";
import { root, runVitest } from "./run.mjs";

const bin = (name) => path.join(root, "node_modules", name);
const steps = [
  {
    name: "format and lint",
    parameters: [bin("@biomejs/biome/bin/biome"), "check", "--error-on-warnings", "."],
  },
  { name: "types", parameters: [bin("typescript/bin/tsc"), "-p", "tsconfig.json"] },
  { name: "types of the page", parameters: [bin("typescript/bin/tsc"), "-p", "web/tsconfig.json"] },
  { name: "unused code and packages", parameters: [bin("knip/bin/knip.js"), "--no-progress"] },
  { name: "lock", parameters: ["scripts/lock.mjs", "--check"] },
];

const started = performance.now();
const built = await perform({ name: "build", parameters: ["scripts/build.mjs"] });
const outcomes = [built, ...(await Promise.all(steps.map(perform)))];
for (const { name, code, output, ms } of outcomes) {
  if (code !== 0) process.stdout.write(output);
  console.log(`${code === 0 ? "ok    " : "FAILED"} ${name} (${ms} ms)`);
}

const tests = await runVitest(["--project", "unit", ...process.argv.slice(2)]);
const failed = outcomes.filter(({ code }) => code !== 0).map(({ name }) => name);
if (tests.code !== 0) failed.push("unit tests");
const seconds = ((performance.now() - started) / 1000).toFixed(1);
console.log(
  failed.length === 0
    ? `check: all well in ${seconds} s`
    : `check: FAILED in ${seconds} s: ${failed.join(", ")}`,
);
process.exitCode = failed.length === 0 ? 0 : 1;

function perform({ name, parameters }) {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, parameters, { cwd: root });
    const chunks = [];
    child.stdout.on("data", (chunk) => chunks.push(chunk));
    child.stderr.on("data", (chunk) => chunks.push(chunk));
    child.on("error", reject);
    child.on("close", (code) => {
      const ms = Math.round(performance.now() - began);
      resolve({ name, code: code ?? 1, output: Buffer.concat(chunks).toString(), ms });
    });
  });
}
