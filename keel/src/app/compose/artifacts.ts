/** What a session keeps beside its log. */

import { mkdir } from "node:fs/promises";
import path from "node:path";
import type { SessionPorts } from "../../engine/step-context.ts";
import type { Store } from "../../ports/store.ts";
import type { PlanFile } from "../../ports/tool.ts";
import { folderOf } from "../../store/jsonl/log-locations.ts";

export function sessionArtifacts(
  store: Store,
  session: string,
): Pick<SessionPorts, "spill" | "taskFile" | "plan"> {
  const spill: SessionPorts["spill"] = (name, content) => store.spill(session, name, content);
  const place = store.location(session);
  if (place === undefined) return { spill };
  // An empty text makes the file; the task then writes into it.
  return { spill, taskFile: async (name) => (await spill(name, "")).path, plan: planFileFor(place) };
}

/** Where a session's plan stands: beside its log, in a folder that only the user can read. */
function planFileFor(log: string): PlanFile {
  const folder = path.join(folderOf(log), "plans");
  return {
    path: path.join(folder, "plan.md"),
    async ready() {
      await mkdir(folder, { recursive: true, mode: 0o700 });
    },
  };
}
