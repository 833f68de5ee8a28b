// The first code of the command. Never bundled, and kept to syntax that old Nodes parse,
// so that a too old Node gets a sentence instead of a stack trace.
"use strict";

const NEEDED_MAJOR = 24;
const SETUP_EXIT = 78;
const found = process.versions.node;
const asked = process.argv[2];

if (Number(found.split(".")[0]) < NEEDED_MAJOR) {
  process.stderr.write(
    `keel: needs Node ${NEEDED_MAJOR} or newer, but found ${found} (${process.execPath}).\n` +
      "Install a newer Node, or name one: KEEL_NODE=/path/to/node keel\n",
  );
  process.exitCode = SETUP_EXIT;
} else {
  // Beside the bundle, never in a shared temporary folder: whoever writes the cache chooses the code that runs.
  // By call and not by NODE_COMPILE_CACHE, which the commands that the agent runs would inherit.
  // The first run decides which code is kept compiled: one that only shows a text would leave out the rest for good.
  if (asked !== undefined && !/^(-V|--version|-h|--help)$/.test(asked))
    require("node:module").enableCompileCache(`${__dirname}/../dist/.compile-cache`);
  require("../dist/cli/main.cjs").main();
}
