/** Where a session's plan stands: beside its log, in a folder that only the user can read. */
import { mkdir } from "node:fs/promises";
import path from "node:path";
import type { PlanFile } from "../../ports/tool.ts";
import { folderOf } from "../../store/jsonl/log-locations.ts";

export function planFileFor(log: string): PlanFile {
  const folder = path.join(folderOf(log), "plans");
  return {
    path: path.join(folder, "plan.md"),
    async ready() {
      await mkdir(folder, { recursive: true, mode: 0o700 });
    },
  };
}
