// Says by name what this machine cannot run: the last line of `npm test` lists it, `npm run test:long` fails on it.
import { TestRunner } from "vitest";
import { note } from "./notes.ts";

/** `notRunHere("sandbox", "bwrap absent")`. Inside a test it also ends that test as skipped, never as passed. */
export function notRunHere(name: string, reason: string): void {
  note("not-run", `${name} (${reason})`);
  TestRunner.getCurrentTest()?.context.skip(`${name}: ${reason}`);
}
