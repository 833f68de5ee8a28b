// Before the package is packed: what was built must be there, and the README comes along.
"use strict";

const { copyFileSync, existsSync } = require("node:fs");
const path = require("node:path");

const own = path.join(__dirname, "..");
const needed = ["dist/index.js", "dist/cli/main.cjs", "dist/types/sdk/index.d.ts"];
const missing = needed.filter((name) => !existsSync(path.join(own, name)));
if (missing.length > 0) {
  process.stderr.write(`keel: ${missing.join(", ")} is not built: run npm run build, then pack.\n`);
  process.exitCode = 1;
} else {
  copyFileSync(path.join(own, "../README.md"), path.join(own, "README.md"));
}
