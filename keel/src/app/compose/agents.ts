/** The agents of a session: what the engine needs of the world to open them, put together from the session's own kit. */
import { appendFile } from "node:fs/promises";
import { TreeBudget } from "../../agents/budget.ts";
import { type AgentLimits, defaultAgentLimits } from "../../agents/limits.ts";
import { Crew } from "../../agents/spawn.ts";
import { AgentTree, type AgentWorld } from "../../agents/tree.ts";
import type { Environment } from "../../config/settings/paths.ts";
import type { Settings } from "../../config/settings/settings-schema.ts";
import type { Limits } from "../../core/limits.ts";
import type { AgentDefinition } from "../../ports/agent-definition.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Store } from "../../ports/store.ts";
import type { Tool } from "../../ports/tool.ts";
import { agentTool } from "../../tools/agent.ts";
import { sendMessageTool } from "../../tools/send-message.ts";
import { beside } from "./beside.ts";
import { usableFallbacks } from "./model.ts";
import { placeSection } from "./prompts.ts";

export type SessionAgents = {
  readonly tree: AgentTree;
  readonly crew: Crew;
};

export function sessionAgents({
  version,
  clock,
  limits,
  settings,
  env,
  store,
  definitions,
  isolate,
  outfit,
}: {
  version: string;
  clock: Clock;
  limits: Limits;
  settings: Settings;
  env: Environment;
  store: () => Store;
  definitions: () => readonly AgentDefinition[];
  isolate?: AgentWorld["isolate"];
  outfit?: AgentWorld["outfit"];
}): SessionAgents {
  const world: AgentWorld = {
    version,
    definitions,
    createLog: (id, place) => store().create(id, place),
    openLog: (id) => store().open(id),
    readLog: (id) => store().read(id),
    location: (id) => store().location(id),
    beside: (id) => {
      const { spill, taskFile } = beside(store(), id);
      return { spill, taskFile };
    },
    tools: (agents) => [agentTool(agents) as Tool, sendMessageTool(agents) as Tool],
    resolveModel: (name) => {
      const { usable, problems } = usableFallbacks([name], { env, settings });
      const [value] = usable;
      return value === undefined
        ? { ok: false, error: problems.join(" ").replace(/^The fallback \S+ is left out: /, "") }
        : { ok: true, value };
    },
    system: ({ definition, workspace: { cwd, roots } }) => [
      definition.prompt,
      placeSection({ cwd, roots, platform: process.platform }),
    ],
    write: (file, words) => appendFile(file, words),
    ...(isolate ? { isolate } : {}),
    ...(outfit ? { outfit } : {}),
  };
  const budget = new TreeBudget({ limits, clock });
  const tree = new AgentTree({ world, budget, limits: agentLimits(settings) });
  return { tree, crew: new Crew(tree) };
}

function agentLimits({ limits = {} }: Settings): AgentLimits {
  return {
    mostDepth: limits.maxAgentDepth ?? defaultAgentLimits.mostDepth,
    mostAtOnce: limits.maxAgents ?? defaultAgentLimits.mostAtOnce,
    mostUnasked: limits.maxAgentsUnasked ?? defaultAgentLimits.mostUnasked,
  };
}
