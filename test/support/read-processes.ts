import {
  maxGlances,
  type ProcessEntry,
  ProcessScan,
} from "../../keel/src/workspace/processes/process-table.ts";

/** Everyone who still runs. */
export function readProcesses(): ProcessEntry[] {
  const look = new ProcessScan();
  for (let glance = 1; !look.glance() && glance < maxGlances; glance++);
  return look.processes;
}
