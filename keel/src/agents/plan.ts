/** From an order to the parts of an agent's session: its kind, its model, its tools, how far it may go. */

import type { OpenedFields } from "../core/opening.ts";
import { modelOf, type SessionState } from "../core/state/state.ts";
import type { Session } from "../engine/session.ts";
import type { SessionPorts } from "../engine/step-context.ts";
import { named } from "../kernel/list.ts";
import type { AgentProfile } from "../ports/agent-definition.ts";
import type { AgentOrder, Agents } from "../ports/agents.ts";
import type { FileLedger } from "../ports/file-ledger.ts";
import type { HookContext } from "../ports/hooks.ts";
import type { Log } from "../ports/store.ts";
import type { Workspace } from "../ports/workspace.ts";
import type { Origin } from "../protocol/ask.ts";
import type { DurableEvent } from "../protocol/event/durable.ts";
import { type InputBlock, type Message, type ToolResult, text } from "../protocol/message.ts";
import type { PermissionMode, SessionSettings } from "../protocol/settings.ts";
import { agentPorts, boxOf, hooksOfAgent, modeAtMost, refusedToForks, toolsOf } from "./rights.ts";
import { type AgentExtras, type AgentPorts, type AgentTree, sessionArtifacts } from "./tree.ts";

export type ParentSession = { readonly session: Session; readonly parts: SessionPorts };

export type AgentPlan = {
  readonly definition: AgentProfile;
  readonly model: string;
  readonly effort: SessionSettings["effort"];
  readonly isolation: "worktree" | undefined;
  readonly when: "background" | "foreground";
  /** It may only look, until its plan is approved. */
  readonly plans: boolean;
};

export function planFor(
  order: AgentOrder,
  { world, parent }: { world: AgentPorts; parent: ParentSession },
): { ok: true; value: AgentPlan } | { ok: false; why: string } {
  const definition = named(world.definitions(), order.kind);
  if (!definition) return { ok: false, why: `There is no agent of the kind ${order.kind}.` };
  const { settings } = parent.session.state;
  const isFork = definition.inherits === "conversation";
  // A fork asks the same model in the same way, or nothing of the cache could be read.
  const request = isFork ? undefined : (order.model ?? definition.model);
  const own = modelOf(parent.session.state);
  const model =
    request === undefined || request === "inherit"
      ? { ok: true as const, value: own }
      : world.resolveModel(request);
  if (!model.ok) return { ok: false, why: `The agent cannot be started: ${model.error}` };
  return {
    ok: true,
    value: {
      definition,
      model: model.value,
      effort: isFork ? settings?.effort : (order.effort ?? definition.effort ?? settings?.effort),
      isolation: order.isolation ?? definition.isolation,
      when: order.when ?? (definition.background === false ? "foreground" : "background"),
      plans: order.plans === true,
    },
  };
}

export const parentMode = ({ session, parts }: ParentSession): PermissionMode =>
  parts.above?.mode() ?? session.state.settings?.permissionMode ?? "default";

export type AgentSessionOptions = {
  readonly tree: AgentTree;
  readonly supervisor: Agents & { recover: NonNullable<SessionPorts["recover"]> };
  readonly parent: ParentSession;
  readonly log: Log;
  readonly origin: Origin;
  readonly workspace: Workspace;
  /** Where it writes down what it changes in the folder of its parent. */
  readonly ledger?: FileLedger | undefined;
  /** What its kind brings along. */
  readonly extras?: AgentExtras | undefined;
  /** Words of hooks for its first input. */
  readonly context: readonly string[];
  /** Its name in the team of the session above, if it is in it. */
  readonly member?: string | undefined;
};

export function portsFor(
  { definition, model, effort, plans }: AgentPlan,
  {
    tree,
    supervisor,
    parent,
    log,
    origin,
    workspace,
    ledger,
    extras: outfit,
    context,
    member,
  }: AgentSessionOptions,
): { parts: SessionPorts; start: OpenedFields } {
  const { session, parts } = parent;
  const isFork = definition.inherits === "conversation";
  const bound = tree.ports.tools(supervisor);
  const given = isFork ? parts.tools : (parts.agentTools ?? parts.tools);
  const tools = given.map((tool) => bound.find(({ name }) => name === tool.name) ?? tool);
  const isDeepest = origin.depth >= tree.limits.maxDepth;
  const chosen = isFork
    ? tools.map(refusedToForks)
    : toolsOf(definition, tools).filter(({ name }) => !(isDeepest && name === "Agent"));
  const own = member === undefined ? chosen : tree.toolsOfMember(member, chosen, bound);
  const box = parts.toolbox && boxOf(definition, parts.toolbox);
  const wanted = plans ? ("plan" as const) : definition.permissionMode;
  const mode = (): PermissionMode => modeAtMost(wanted, parentMode(parent));
  const transcript = tree.ports.store.location(log.session) ?? "";
  const { spill, taskFile } = sessionArtifacts(tree.ports.store, log.session);
  return {
    parts: agentPorts(parts, {
      log,
      workspace,
      spill,
      taskFile,
      tools: own,
      toolbox: isFork ? parts.toolbox : outfit ? outfit.join(box) : box,
      // As they are now, and as they will be: what is denied above is denied below.
      rules: session.rules,
      hooks: hooksOfAgent(parts.hooks, {
        facts: { agentId: origin.agentId, kind: origin.kind, transcript },
        context,
      }),
      briefing: isFork ? undefined : (parts.briefing?.forAgent?.() ?? parts.briefing),
      above: {
        origin,
        root: parts.above?.root ?? session.id,
        up: parts.above?.origin.agentId ?? session.id,
        mode,
        ledger,
      },
      recover: (task, team) => supervisor.recover(task, team),
      cacheKey: isFork ? (parts.cacheKey ?? session.id) : undefined,
      limits: {
        ...parts.limits,
        structured: false,
        maxTurns: definition.maxTurns ?? Number.POSITIVE_INFINITY,
      },
      system: isFork
        ? (session.state.prompt?.system ?? parts.system)
        : tree.ports.system({ definition, workspace }),
      promptOnResume: "logged",
    }),
    start: {
      keel: tree.ports.version,
      cwd: workspace.cwd,
      agent: definition.name,
      parent: { session: session.id, callId: origin.parentCallId },
      settings: {
        model,
        permissionMode: mode(),
        thinking: session.state.settings?.thinking ?? { kind: "usual" },
        ...(effort === undefined ? {} : { effort }),
      },
    },
  };
}

/** Where hooks hear of an agent's start: at the session that starts it. */
export function parentHookContext(parent: ParentSession, signal: AbortSignal): HookContext {
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

/**
 * What the log of a fork begins with. Its requests start with the very bytes of the parent's: the same tools and system,
 * the same messages up to the reply that started it. So the provider's cache is read and not written.
 */
export function inherited({ id, state }: Pick<Session, "id" | "state">): DurableEvent[] {
  const { prompt, history, calls, contextTokens, seq } = state;
  const answered: Message = {
    role: "user",
    content: calls.ids.map(
      (callId): ToolResult => ({
        type: "tool_result",
        callId,
        content: [text("Handed on.")],
        failed: false,
      }),
    ),
  };
  return [
    ...(prompt ? [promptFixed(prompt)] : []),
    {
      type: "context.inherited",
      from: { session: id, seq },
      messages: [...history.slice(), ...(calls.ids.length > 0 ? [answered] : [])],
      tokens: contextTokens,
    },
  ];
}

export const forkedInput = (prompt: string): InputBlock[] => [
  text(
    `From here on you are a copy of the agent above, started to do one part of the work. It continues without you and sees only your last message. Do this part and nothing else, then report the result:\n\n${prompt}`,
  ),
];

const promptFixed = ({ system, tools }: NonNullable<SessionState["prompt"]>): DurableEvent => ({
  type: "prompt.fixed",
  system: [...system],
  tools: [...tools],
  why: "first",
});
