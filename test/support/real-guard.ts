// The guards that this machine can have, for tests with real processes.
import { openProcessGuard, type ProcessGuard } from "../../keel/src/workspace/processes/process-guard.ts";
import { notRunHere } from "./not-run.ts";
import { plainEnvironment } from "./real-shell.ts";

/** Both kinds, by name. Whoever runs a test in a namespace calls `needsNamespace` first. */
export const bothGuards = (): [name: string, guard: ProcessGuard][] => [
  ["beside a sweeper", openProcessGuard({ env: plainEnvironment, wish: "off" })],
  ["in a namespace", openProcessGuard({ env: plainEnvironment })],
];

/** Ends the test as not run where no namespace can be made and one was wanted. */
export async function needsGuard(name: string, guard: ProcessGuard): Promise<void> {
  const { kind, why = "" } = await guard.describe();
  if (name === "in a namespace" && kind !== "namespace") notRunHere("the namespace guard", why);
}
