// The first code of the command. Never bundled, and kept to syntax that old Nodes parse,
// so that a too old Node gets a sentence instead of a stack trace.
"use strict";

const NEEDED_MAJOR = 24;
const SETUP_EXIT = 78;
const PLATFORMS = ["linux", "darwin", "win32"];
const found = process.versions.node;

if (Number(found.split(".")[0]) < NEEDED_MAJOR) {
  process.stderr.write(
    `keel: needs Node ${NEEDED_MAJOR} or newer, but found ${found} (${process.execPath}).\n` +
      "Install a newer Node, or name one: KEEL_NODE=/path/to/node keel\n",
  );
  process.exitCode = SETUP_EXIT;
} else if (PLATFORMS.indexOf(process.platform) < 0) {
  process.stderr.write(
    `keel: does not work on ${process.platform}; it is made for Linux, macOS and Windows.\n`,
  );
  process.exitCode = SETUP_EXIT;
} else {
  require("./load.cjs").load().main();
}
