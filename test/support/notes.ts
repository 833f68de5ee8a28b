// Notes that tests leave for the script that started the run. Workers are separate processes: a file joins them.
import { appendFileSync } from "node:fs";
import path from "node:path";

/** Adds a line under a heading; does nothing when the run was started without our scripts. */
export function note(heading: "not-run" | "counts" | "requests", line: string): void {
  const directory = process.env["KEEL_TEST_NOTES"];
  // One short append is atomic on the file systems that we test on, so workers do not tear each other's lines.
  if (directory) appendFileSync(path.join(directory, heading), `${line}\n`);
}
