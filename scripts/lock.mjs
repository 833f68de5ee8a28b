// Keeps the lock portable. With --check: fails when the lock names a registry host or `npm ci` would refuse it.
// Without: removes the hosts.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

const file = new URL("../package-lock.json", import.meta.url);
const lock = JSON.parse(readFileSync(file, "utf8"));

// A workspace link keeps its `resolved`: it is a path inside the repository, and npm needs it.
const hosted = Object.entries(lock.packages).filter(([, entry]) => /^[a-z+]+:/.test(entry.resolved ?? ""));

if (process.argv.includes("--check")) check();
else strip();

function strip() {
  for (const [, entry] of hosted) delete entry.resolved;
  if (hosted.length > 0) writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
  console.log(`lock: ${hosted.length} addresses removed`);
}

function check() {
  for (const [name] of hosted) fail(`${name} names a registry host; run: node scripts/lock.mjs`);
  for (const [name, entry] of Object.entries(lock.packages)) {
    if (name.includes("node_modules/") && !entry.link && !entry.integrity)
      fail(`${name} has no integrity hash`);
  }
  const npm = process.env.npm_execpath;
  const command = npm ? [process.execPath, npm] : ["npm"];
  const dry = spawnSync(command[0], [...command.slice(1), "ci", "--dry-run", "--ignore-scripts"], {
    cwd: new URL("..", import.meta.url),
    encoding: "utf8",
  });
  const output = `${dry.stdout}${dry.stderr}`;
  const missing = output.split("\n").filter((line) => line.includes("Missing:") || line.includes("Invalid:"));
  for (const line of missing) fail(line);
  if (dry.status !== 0 && missing.length === 0) fail(output);
  if (process.exitCode !== 1) console.log("lock: npm ci accepts it, no registry host in it");
}

function fail(reason) {
  console.error(`lock: ${reason}`);
  process.exitCode = 1;
}
