/** What a session keeps beside its log, as the engine asks for it. */
import type { SessionPorts } from "../../engine/step-context.ts";
import type { Store } from "../../ports/store.ts";

export function sessionArtifacts(
  { artifacts }: Pick<Store, "artifacts">,
  session: string,
): Pick<SessionPorts, "spill" | "taskFile" | "plan"> {
  const spill: SessionPorts["spill"] = async (name, text) => {
    const { path, bytes } = await artifacts.put({ session, kind: "output", name }, text);
    return { path, bytes };
  };
  // Plans and the output of tasks are written by tools and commands, which need a file.
  const plan = artifacts.file({ session, kind: "plan", name: "plan.md" });
  if (!plan) return { spill };
  // An empty text makes the file; the task then writes into it.
  return { spill, plan, taskFile: async (name) => (await spill(name, "")).path };
}
