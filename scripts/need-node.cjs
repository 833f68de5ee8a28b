// Before a script of the repository: npm brings the Node that they need, but not on every system, and one that is too
// old would say so in a stack trace. Kept to syntax that old Nodes parse.
"use strict";

const NEEDED_MAJOR = 24;
const SETUP_EXIT = 78;
const found = process.versions.node;

if (Number(found.split(".")[0]) < NEEDED_MAJOR) {
  process.stderr.write(
    `keel: its scripts need Node ${NEEDED_MAJOR} or newer, but found ${found} (${process.execPath}).\n` +
      "On Linux and Windows npm ci brings one; elsewhere install it yourself.\n",
  );
  process.exit(SETUP_EXIT);
}
