/**
 * What an agent may do, from what its parent may do and what its kind asks for. Never more. Pure. Each port is named as
 * given, narrowed or withheld: one that is added tomorrow does not compile here until somebody has said which.
 */

import type { SessionPorts } from "../engine/step-context.ts";
import type { AgentProfile } from "../ports/agent-definition.ts";
import type { AgentStopFacts, Hooks } from "../ports/hooks.ts";
import type { Toolbox, ToolHead } from "../ports/tool.ts";
import type { PermissionMode } from "../protocol/settings.ts";

/** `own`: of its own making, or its parent's as its kind and its parent narrow it. */
type Right = "given" | "own" | "withheld";

/**
 * What an agent works with, and what the log of a lost one is settled with: nothing is asked then, and nothing spent.
 * Files are kept, plans made, notes taken and work given out by the session that a person speaks with.
 */
const rights = {
  log: { agent: "own", lost: "own" },
  spill: { agent: "own", lost: "own" },
  taskFile: { agent: "own", lost: "own" },
  recover: { agent: "own", lost: "own" },
  model: { agent: "given", lost: "given" },
  clock: { agent: "given", lost: "given" },
  ids: { agent: "given", lost: "given" },
  asks: { agent: "given", lost: "given" },
  workspace: { agent: "own", lost: "given" },
  tools: { agent: "own", lost: "given" },
  rules: { agent: "own", lost: "given" },
  hooks: { agent: "own", lost: "given" },
  above: { agent: "own", lost: "given" },
  limits: { agent: "own", lost: "given" },
  system: { agent: "own", lost: "given" },
  promptOnResume: { agent: "own", lost: "given" },
  toolbox: { agent: "own", lost: "withheld" },
  briefing: { agent: "own", lost: "withheld" },
  cacheKey: { agent: "own", lost: "withheld" },
  redirects: { agent: "given", lost: "withheld" },
  bypass: { agent: "given", lost: "withheld" },
  condense: { agent: "given", lost: "withheld" },
  budget: { agent: "given", lost: "withheld" },
  startedAs: { agent: "withheld", lost: "given" },
  agentTools: { agent: "withheld", lost: "withheld" },
  checkpoints: { agent: "withheld", lost: "withheld" },
  plan: { agent: "withheld", lost: "withheld" },
  memory: { agent: "withheld", lost: "withheld" },
  goals: { agent: "withheld", lost: "withheld" },
  recall: { agent: "withheld", lost: "withheld" },
  reviewer: { agent: "given", lost: "withheld" },
  traced: { agent: "given", lost: "withheld" },
} as const satisfies Record<keyof SessionPorts, Readonly<Record<"agent" | "lost", Right>>>;

type OwnPorts<Whose extends "agent" | "lost"> = {
  readonly [Name in keyof SessionPorts as (typeof rights)[Name][Whose] extends "own"
    ? Name
    : never]-?: SessionPorts[Name];
};

export const agentPorts = (parent: SessionPorts, own: OwnPorts<"agent">): SessionPorts =>
  allowed(parent, own, "agent");

export const recoveryPorts = (parent: SessionPorts, own: OwnPorts<"lost">): SessionPorts =>
  allowed(parent, own, "lost");

function allowed(parent: SessionPorts, own: object, whose: "agent" | "lost"): SessionPorts {
  const from = { given: parent, own, withheld: {} };
  const ports = Object.entries(rights).map(([name, right]) => [name, Reflect.get(from[right[whose]], name)]);
  // The table names every port, and its type says from where each comes.
  return Object.fromEntries(ports) as SessionPorts;
}

/** From the strictest to the freest. `auto` asks as `default` does. */
const byFreedom: readonly PermissionMode[] = [
  "plan",
  "dontAsk",
  "default",
  "auto",
  "acceptEdits",
  "bypassPermissions",
];

/** The stricter of both. */
export function modeAtMost(request: PermissionMode | undefined, parent: PermissionMode): PermissionMode {
  if (request === undefined) return parent;
  return byFreedom.indexOf(request) < byFreedom.indexOf(parent) ? request : parent;
}

/** These speak with the person of the session, or move it: they are not an agent's to use. */
const onlyForSessions: ReadonlySet<string> = new Set([
  "AskUserQuestion",
  "EnterPlanMode",
  "ExitPlanMode",
  "EnterWorktree",
  "ExitWorktree",
  "schedule_task",
  "list_tasks",
  "cancel_task",
  "TeamCreate",
  "TeamDelete",
  "TeamShutdown",
]);

/** Whether an agent of this kind has the tool. */
export function hasTool(
  { tools, disallowedTools = [] }: Pick<AgentProfile, "tools" | "disallowedTools">,
  { name, aliases }: Pick<ToolHead, "name" | "aliases">,
): boolean {
  const isIn = (list: readonly string[]): boolean =>
    list.map(nameIn).some((wanted) => wanted === name || aliases.includes(wanted) || isServer(wanted, name));
  if (onlyForSessions.has(name) || disallowedTools.some((wanted) => isIn([wanted]) && !wanted.includes("(")))
    return false;
  return tools === undefined || tools.includes("*") || isIn(tools);
}

const nameIn = (request: string): string => request.replace(/\(.*$/s, "").trim();
const isServer = (wanted: string, name: string): boolean =>
  wanted.startsWith("mcp__") && name.startsWith(`${wanted.replace(/__\*$/, "")}__`);

export function toolsOf(definition: AgentProfile, parent: readonly ToolHead[]): ToolHead[] {
  const chosen = parent.filter((tool) => hasTool(definition, tool));
  // Who names a tool wants it now.
  const isNamed = definition.tools !== undefined && !definition.tools.includes("*");
  return isNamed ? chosen.map((tool) => (tool.deferred ? { ...tool, deferred: false } : tool)) : chosen;
}

export function boxOf(definition: Pick<AgentProfile, "tools" | "disallowedTools">, parent: Toolbox): Toolbox {
  const has = (name: string): boolean => hasTool(definition, { name, aliases: [] });
  return {
    tools: () => parent.tools().filter((tool) => hasTool(definition, tool)),
    knows: (name) => has(name) && parent.knows(name),
    ready: (signal) => parent.ready(signal),
    instructions: () => parent.instructions?.() ?? [],
  };
}

/** A fork declares the same tools as its parent, or the provider's cache would not know it; some it may not use. */
export const refusedToForks = (tool: ToolHead): ToolHead =>
  onlyForSessions.has(tool.name)
    ? {
        ...tool,
        load: async () => ({
          ...(await tool.load()),
          check: async () => `${tool.name} is not for an agent. Leave it to the one who started you.`,
        }),
      }
    : tool;

/**
 * The hooks of the session, as an agent meets them: it has no start, no prompt and no end of its own; its stop is a
 * SubagentStop. `context` are words of SubagentStart hooks, which go with its first input.
 */
export function hooksOfAgent(
  hooks: Hooks,
  {
    facts,
    context,
  }: { facts: Omit<AgentStopFacts, "objections" | "lastText" | "tasks">; context: readonly string[] },
): Hooks {
  let words = context;
  return {
    ...hooks,
    begins: () => undefined,
    start: async () => ({ context: [] }),
    end: async () => undefined,
    input: async () => {
      const said = words;
      words = [];
      return { context: said };
    },
    stop: (end, hookContext) => hooks.agentStopped({ ...facts, ...end }, hookContext),
  };
}
