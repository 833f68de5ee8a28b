/** The agents of a session: what the engine needs of the world to open them, put together from the session's own kit. */
import { basename } from "node:path";
import type { TreeBudget } from "../../agents/budget.ts";
import { AgentSupervisor } from "../../agents/supervisor.ts";
import { type AgentLimits, type AgentPorts, AgentTree, defaultAgentLimits } from "../../agents/tree.ts";
import type { EnvironmentVariables } from "../../config/settings/paths.ts";
import type { KeelSettings } from "../../config/settings/settings-schema.ts";
import type { Store } from "../../ports/store.ts";
import { agentTools } from "../../tools/catalog.ts";
import { usableFallbacks } from "./model.ts";
import { locationSection } from "./prompts.ts";

export type SessionAgents = {
  readonly tree: AgentTree;
  readonly supervisor: AgentSupervisor;
};

export function sessionAgents({
  version,
  budget,
  settings,
  env,
  store,
  definitions,
  isolate,
  extras,
  peers,
}: Pick<AgentPorts, "peers"> &
  Required<Pick<AgentPorts, "version" | "definitions" | "isolate" | "extras">> & {
    budget: TreeBudget;
    settings: KeelSettings;
    env: EnvironmentVariables;
    store: Store;
  }): SessionAgents {
  const ports: AgentPorts = {
    version,
    definitions,
    store,
    tools: agentTools,
    resolveModel: (name) => {
      const { usable, problems } = usableFallbacks([name], { env, settings });
      const [value] = usable;
      return value === undefined
        ? { ok: false, error: problems.join(" ").replace(/^The fallback \S+ is left out: /, "") }
        : { ok: true, value };
    },
    system: ({ definition, workspace: { cwd, roots } }) => [
      definition.prompt,
      locationSection({ cwd, roots, platform: process.platform }),
    ],
    append: (session, file, text) =>
      store.artifacts.append({ session, kind: "output", name: basename(file) }, text),
    isolate,
    extras,
    peers,
  };
  const tree = new AgentTree({ world: ports, budget, limits: agentLimits(settings) });
  return { tree, supervisor: new AgentSupervisor(tree) };
}

function agentLimits({ limits = {} }: KeelSettings): AgentLimits {
  return {
    maxDepth: limits.maxAgentDepth ?? defaultAgentLimits.maxDepth,
    maxAtOnce: limits.maxAgents ?? defaultAgentLimits.maxAtOnce,
    maxUnasked: limits.maxAgentsUnasked ?? defaultAgentLimits.maxUnasked,
  };
}
