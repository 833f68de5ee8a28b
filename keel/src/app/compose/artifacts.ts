/** What a session keeps beside its log. */
import type { SessionPorts } from "../../engine/step-context.ts";
import type { Store } from "../../ports/store.ts";
import { planFileFor } from "./plan-file.ts";

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
