/** A session of the simulated machine: alone, or with agents below it and one budget over them all. */
import { type BudgetLimits, TreeBudget } from "../../keel/src/agents/budget.ts";
import { AgentSupervisor } from "../../keel/src/agents/supervisor.ts";
import { type AgentPorts, AgentTree, type IsolatedWorkspace } from "../../keel/src/agents/tree.ts";
import { defaultLimits } from "../../keel/src/core/limits.ts";
import { Session } from "../../keel/src/engine/session.ts";
import type { SessionPorts } from "../../keel/src/engine/step-context.ts";
import { fault } from "../../keel/src/kernel/fault.ts";
import type { Log } from "../../keel/src/ports/store.ts";
import type { Tool } from "../../keel/src/ports/tool.ts";
import { memoryWorkspace } from "../../keel/src/testing/memory-workspace.ts";
import { agentTool } from "../../keel/src/tools/agent.ts";
import { sendMessageTool } from "../../keel/src/tools/send-message.ts";
import {
  shutdownReplyTool,
  teamCreateTool,
  teamDeleteTool,
  teamShutdownTool,
} from "../../keel/src/tools/team.ts";
import { taskCreateTool, taskUpdateTool } from "../../keel/src/tools/todo-list.ts";
import type { BudgetChecks } from "./budget-checks.ts";
import type { Disks } from "./disk.ts";
import type { World } from "./world.ts";

export type Household = { readonly session: Session; readonly tree: AgentTree | undefined; close(): void };

type Opening = Parameters<typeof Session.open>[1];

export async function openAlone(parts: SessionPorts, opening: Opening): Promise<Household> {
  return { session: await Session.open(parts, opening), tree: undefined, close: () => undefined };
}

const { maxBudgetUsd, maxTokens, maxTimeMs, maxProcesses } = defaultLimits;
const noBudget: BudgetLimits = { maxBudgetUsd, maxTokens, maxTimeMs, maxProcesses };

/** Few at once and two levels deep, so that every bound is met. */
const agentLimits = { maxDepth: 2, maxAtOnce: 4, maxUnasked: 2 };

export async function openFamily(
  given: SessionPorts,
  opening: Opening,
  around: {
    world: World;
    disks: Disks;
    limits: BudgetLimits;
    checks: BudgetChecks;
    mutant: string | undefined;
    hasTeam: boolean;
  },
): Promise<Household> {
  const { world, disks, checks, mutant, hasTeam } = around;
  const limits = mutant === "boundless-budget" ? noBudget : around.limits;
  const { clock } = given;
  const budget = new TreeBudget({ limits, clock });
  const hear = budget.hear.bind(budget);
  budget.hear = (event) => {
    checks.hear(event);
    hear(event);
  };
  const tree = new AgentTree({ world: agentWorld(world, disks), budget, limits: agentLimits });
  const crew = new AgentSupervisor(tree);
  const parts: SessionPorts = {
    ...given,
    tools: tree.led([
      ...given.tools,
      ...[agentTool(crew), sendMessageTool(crew), ...(hasTeam ? teamTools(crew) : [])].map(
        (tool) => tool as Tool,
      ),
    ]),
    budget,
    limits: { ...given.limits, ...limits },
    ...(mutant === "forgotten-agents" ? {} : { recover: (task, team) => crew.recover(task, team) }),
  };
  crew.equip(parts);
  const session = await Session.open(parts, opening);
  crew.attach(session);
  checks.begin(disks);
  tree.plant(session, clock);
  if (mutant !== "forgotten-team") await crew.revive();
  return { session, tree, close: () => budget.close() };
}

const teamTools = (crew: AgentSupervisor) => [
  teamCreateTool(crew),
  teamDeleteTool(crew),
  teamShutdownTool(crew),
  taskCreateTool,
  taskUpdateTool,
];

function agentWorld(world: World, disks: Disks): AgentPorts {
  const logOf = (id: string): Log => {
    const disk = disks.get(id);
    if (!disk) throw fault("session_unknown", { session: id });
    return disk.open(id);
  };
  return {
    version: "test",
    definitions: () => [
      { name: "worker", description: "Works.", prompt: "You are a worker.", from: "program" },
    ],
    store: {
      async create(id) {
        await world.sleep(world.between(0, 5));
        if (world.goesWrong("disk-full"))
          throw fault("log_unwritable", { path: "log", reason: "no space left" });
        return disks.create(id).open(id);
      },
      open: async (id) => logOf(id),
      read: (id) => logOf(id).read(),
      location: () => undefined,
      artifacts: {
        put: async ({ name }, content) => ({ name, path: name, bytes: content.length }),
        file: () => undefined,
      },
    },
    tools: (agents) => [agentTool, sendMessageTool, shutdownReplyTool].map((tool) => tool(agents) as Tool),
    resolveModel: (name) => ({ ok: true, value: name }),
    system: ({ definition }) => [definition.prompt],
    isolate: async (_, name) => {
      await world.sleep(world.between(1, 100));
      return world.draw() < 0.1
        ? { ok: false, why: "There is no room." }
        : { ok: true, place: placeOf(world, name) };
    },
  };
}

const placeOf = (world: World, name: string): IsolatedWorkspace => ({
  workspace: memoryWorkspace(),
  worktree: { path: `/worktrees/${name}`, branch: `keel/${name}`, from: "/project" },
  leave: async () => {
    await world.sleep(world.between(1, 50));
    return world.draw() < 0.5 ? "kept" : "removed";
  },
});

/** Some trees may spend what they want; the others have one bound that many of them meet. */
export function budgetFor(world: World): BudgetLimits {
  const dice = world.draw();
  if (dice < 0.25) return { ...noBudget, maxBudgetUsd: world.between(5, 150) / 1_000 };
  if (dice < 0.5) return { ...noBudget, maxTokens: world.between(2_000, 50_000) };
  if (dice < 0.65) return { ...noBudget, maxTimeMs: world.between(5_000, 150_000) };
  return noBudget;
}
