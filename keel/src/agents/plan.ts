/** From an order to the parts of an agent's session: its kind, its model, its tools, how far it may go. */

import type { Start } from "../core/opening.ts";
import { modelOf } from "../core/state/state.ts";
import type { Session } from "../engine/session.ts";
import type { Parts } from "../engine/work.ts";
import type { AgentDefinition } from "../ports/agent-definition.ts";
import type { AgentOrder, Agents } from "../ports/agents.ts";
import type { FileLedger } from "../ports/file-ledger.ts";
import type { HookSite } from "../ports/hooks.ts";
import type { Log } from "../ports/store.ts";
import type { Workspace } from "../ports/workspace.ts";
import type { Origin } from "../protocol/origin.ts";
import type { PermissionMode, SessionSettings } from "../protocol/settings.ts";
import { boxOf, hooksOfAgent, modeAtMost, refusedToForks, toolsOf } from "./child.ts";
import type { AgentTree, AgentWorld, Outfit } from "./tree.ts";

export type Parent = { readonly session: Session; readonly parts: Parts };

export type Plan = {
  readonly definition: AgentDefinition;
  readonly model: string;
  readonly effort: SessionSettings["effort"];
  readonly isolation: "worktree" | undefined;
  readonly when: "background" | "foreground";
};

export function planFor(
  order: AgentOrder,
  { world, parent }: { world: AgentWorld; parent: Parent },
): { ok: true; value: Plan } | { ok: false; why: string } {
  const definition = world.definitions().find(({ name }) => name === order.kind);
  if (!definition) return { ok: false, why: `There is no agent of the kind ${order.kind}.` };
  const { settings } = parent.session.state;
  const isFork = definition.inherits === "conversation";
  // A fork asks the same model in the same way, or nothing of the cache could be read.
  const wish = isFork ? undefined : (order.model ?? definition.model);
  const own = modelOf(parent.session.state);
  const model =
    wish === undefined || wish === "inherit" ? { ok: true as const, value: own } : world.resolveModel(wish);
  if (!model.ok) return { ok: false, why: `The agent cannot be started: ${model.error}` };
  return {
    ok: true,
    value: {
      definition,
      model: model.value,
      effort: isFork ? settings?.effort : (order.effort ?? definition.effort ?? settings?.effort),
      isolation: order.isolation ?? definition.isolation,
      when: order.when ?? (definition.background === false ? "foreground" : "background"),
    },
  };
}

export const parentMode = ({ session, parts }: Parent): PermissionMode =>
  parts.above?.mode() ?? session.state.settings?.permissionMode ?? "default";

export type Birth = {
  readonly tree: AgentTree;
  readonly crew: Agents & { recover: NonNullable<Parts["recover"]> };
  readonly parent: Parent;
  readonly log: Log;
  readonly origin: Origin;
  readonly workspace: Workspace;
  /** Where it writes down what it changes in the folder of its parent. */
  readonly ledger?: FileLedger | undefined;
  /** What its kind brings along. */
  readonly outfit?: Outfit | undefined;
  /** Words of hooks for its first input. */
  readonly context: readonly string[];
};

export function partsFor(
  { definition, model, effort }: Plan,
  { tree, crew, parent, log, origin, workspace, ledger, outfit, context }: Birth,
): { parts: Parts; start: Start } {
  const { session, parts } = parent;
  const isFork = definition.inherits === "conversation";
  const bound = tree.world.tools(crew);
  const given = isFork ? parts.tools : (parts.agentTools ?? parts.tools);
  const tools = given.map((tool) => bound.find(({ name }) => name === tool.name) ?? tool);
  const isDeepest = origin.depth >= tree.limits.mostDepth;
  const own = isFork
    ? tools.map(refusedToForks)
    : toolsOf(definition, tools).filter(({ name }) => !(isDeepest && name === "Agent"));
  const box = parts.toolbox && boxOf(definition, parts.toolbox);
  const mode = (): PermissionMode => modeAtMost(definition.permissionMode, parentMode(parent));
  const transcript = tree.world.location(log.session) ?? "";
  return {
    parts: {
      ...parts,
      ...tree.world.beside(log.session),
      log,
      workspace,
      tools: own,
      agentTools: undefined,
      toolbox: isFork ? parts.toolbox : outfit ? outfit.join(box) : box,
      // As they are now, and as they will be: what is denied above is denied below.
      rules: session.rules,
      hooks: hooksOfAgent(parts.hooks, {
        facts: { agentId: origin.agentId, kind: origin.kind, transcript },
        context,
      }),
      checkpoints: undefined,
      plan: undefined,
      memory: undefined,
      briefing: isFork ? undefined : parts.briefing,
      above: {
        origin,
        root: parts.above?.root ?? session.id,
        up: parts.above?.origin.agentId ?? session.id,
        mode,
        ledger,
      },
      recover: (task) => crew.recover(task),
      cacheKey: isFork ? (parts.cacheKey ?? session.id) : undefined,
      limits: {
        ...parts.limits,
        structured: false,
        maxTurns: definition.maxTurns ?? Number.POSITIVE_INFINITY,
      },
      system: isFork
        ? (session.state.prompt?.system ?? parts.system)
        : tree.world.system({ definition, workspace }),
      promptOnResume: "logged",
    },
    start: {
      keel: tree.world.version,
      cwd: workspace.cwd,
      agent: definition.name,
      parent: { session: session.id, callId: origin.parentCallId },
      settings: {
        model,
        permissionMode: mode(),
        thinking: session.state.settings?.thinking ?? { kind: "off" },
        ...(effort === undefined ? {} : { effort }),
      },
    },
  };
}

/** Where hooks hear of an agent's start: at the session that starts it. */
export function hookSiteOf(parent: Parent, signal: AbortSignal): HookSite {
  const { session, parts } = parent;
  return {
    session: parts.above?.root ?? session.id,
    cwd: parts.workspace.cwd,
    permissionMode: parentMode(parent),
    inputId: session.state.turn?.inputIds[0],
    clock: parts.clock,
    hookMs: parts.limits.hookMs,
    signal,
    newId: () => parts.ids.uuid(),
    show: (event) => session.relay({ at: parts.clock.now(), session: session.id, ...event }),
  };
}
