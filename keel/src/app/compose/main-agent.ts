/** A session that works as a named kind of agent: its prompt, its model and its tools are that agent's. */
import { hasTool } from "../../agents/rights.ts";
import { fault } from "../../kernel/fault.ts";
import type { AgentProfile } from "../../ports/agent-definition.ts";
import type { ToolHead } from "../../ports/tool.ts";

/** Throws `usage` for a kind that there is not. */
export function mainAgent(
  name: string | undefined,
  known: readonly AgentProfile[],
): AgentProfile | undefined {
  if (name === undefined) return undefined;
  const found = known.find((agent) => agent.name === name);
  if (!found) throw fault("usage", { reason: `There is no agent called ${JSON.stringify(name)}.` });
  return found;
}

export const toolsOfMain = (
  agent: AgentProfile | undefined,
  tools: readonly ToolHead[],
): readonly ToolHead[] => (agent ? tools.filter((tool) => hasTool(agent, tool)) : tools);
