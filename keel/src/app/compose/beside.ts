/** What a session keeps beside its log. */
import type { Parts } from "../../engine/work.ts";
import type { Store } from "../../ports/store.ts";
import { planFileBeside } from "./plan-file.ts";

export function beside(store: Store, session: string): Pick<Parts, "spill" | "taskFile" | "plan"> {
  const spill: Parts["spill"] = (name, content) => store.spill(session, name, content);
  const place = store.location(session);
  if (place === undefined) return { spill };
  // An empty text makes the file; the task then writes into it.
  return { spill, taskFile: async (name) => (await spill(name, "")).path, plan: planFileBeside(place) };
}
