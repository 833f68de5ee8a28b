/** A session that can start agents, on fakes: the real loop and crew, a model that looks at what it is asked, logs in memory. */

import { TreeBudget } from "../../keel/src/agents/budget.ts";
import { AgentSupervisor } from "../../keel/src/agents/supervisor.ts";
import {
  type AgentLimits,
  type AgentPorts,
  AgentTree,
  defaultAgentLimits,
  sessionArtifacts,
} from "../../keel/src/agents/tree.ts";
import { defaultLimits, type Limits } from "../../keel/src/core/limits.ts";
import { Session } from "../../keel/src/engine/session.ts";
import type { SessionPorts } from "../../keel/src/engine/step-context.ts";
import { noRules, type Rules } from "../../keel/src/policy/decide.ts";
import type { AgentProfile } from "../../keel/src/ports/agent-definition.ts";
import type { Checkpoints } from "../../keel/src/ports/checkpoints.ts";
import type { Clock, Ids } from "../../keel/src/ports/clock.ts";
import { type Hooks, noHooks } from "../../keel/src/ports/hooks.ts";
import type { Model } from "../../keel/src/ports/model.ts";
import type { Store } from "../../keel/src/ports/store.ts";
import type { Tool } from "../../keel/src/ports/tool.ts";
import type { Workspace } from "../../keel/src/ports/workspace.ts";
import type { Answer, Ask } from "../../keel/src/protocol/ask.ts";
import type { Envelope, EventType } from "../../keel/src/protocol/event/envelope.ts";
import { text } from "../../keel/src/protocol/message.ts";
import type { SessionSettings } from "../../keel/src/protocol/settings.ts";
import { memoryStore } from "../../keel/src/store/memory/memory.ts";
import { countingIds } from "../../keel/src/testing/counting-ids.ts";
import { instantClock } from "../../keel/src/testing/fake-clock.ts";
import { memoryWorkspace } from "../../keel/src/testing/memory-workspace.ts";
import { agentTool } from "../../keel/src/tools/agent.ts";
import { builtInTools } from "../../keel/src/tools/catalog.ts";
import { sendMessageTool } from "../../keel/src/tools/send-message.ts";
import { shutdownReplyTool } from "../../keel/src/tools/team.ts";
import "../../keel/src/agents/recover.ts";
import "../../keel/src/agents/team.ts";
import { loadedTools } from "../support/test-session.ts";

export const rootId = "00000000-0000-7000-8000-0000000000f0";

export const worker: AgentProfile = {
  name: "worker",
  description: "Works.",
  prompt: "You are a worker.",
  from: "program",
};

export type FamilyOptions = {
  readonly model: Model;
  readonly store?: Store;
  readonly workspace?: Workspace;
  readonly clock?: Clock;
  readonly ids?: Ids;
  readonly definitions?: readonly AgentProfile[];
  readonly tools?: readonly Tool[];
  readonly limits?: Partial<Limits>;
  readonly agentLimits?: Partial<AgentLimits>;
  readonly rules?: Rules;
  readonly hooks?: Partial<Hooks>;
  readonly settings?: Partial<SessionSettings>;
  readonly isolate?: AgentPorts["isolate"];
  readonly checkpoints?: Checkpoints;
  /** Whether somebody answers. */
  readonly asks?: "answered" | "refused";
  readonly answer?: (ask: Ask) => Answer | undefined;
};

export type Family = {
  readonly session: Session;
  readonly tree: AgentTree;
  readonly crew: AgentSupervisor;
  readonly events: Envelope[];
  say(words: string): Promise<void>;
  /** Until nothing runs any more, in the background neither. */
  settle(): Promise<void>;
  /** Events of the session itself. */
  own<T extends EventType>(type: T): Extract<Envelope, { type: T }>[];
  /** Events of agents. */
  below<T extends EventType>(type: T): Extract<Envelope, { type: T }>[];
};

export async function openFamily(options: FamilyOptions): Promise<Family> {
  const clock = options.clock ?? instantClock();
  const ids = options.ids ?? countingIds();
  const store = options.store ?? memoryStore();
  const limits = { ...defaultLimits, ...options.limits };
  const world: AgentPorts = {
    version: "test",
    definitions: () => options.definitions ?? [worker],
    store,
    // As they are, and not by `import()`: what waits for a real disk looks as if nothing happened any more.
    tools: (agents) => [agentTool, sendMessageTool, shutdownReplyTool].map((tool) => tool(agents) as Tool),
    resolveModel: (name) => ({ ok: true, value: name }),
    system: ({ definition }) => [definition.prompt],
    ...(options.isolate ? { isolate: options.isolate } : {}),
  };
  const budget = new TreeBudget({ limits, clock });
  const tree = new AgentTree({ world, budget, limits: { ...defaultAgentLimits, ...options.agentLimits } });
  const crew = new AgentSupervisor(tree);
  const known = (await store.list()).some(({ id }) => id === rootId);
  const log = known ? await store.open(rootId) : await store.create(rootId, { cwd: "/project" });
  const parts: SessionPorts = {
    log,
    clock,
    ids,
    model: options.model,
    workspace: options.workspace ?? memoryWorkspace(),
    tools: (await loadedTools([...builtInTools({ agents: crew }), ...(options.tools ?? [])])).map((tool) =>
      tree.sharing(tool, "main"),
    ),
    rules: options.rules ?? noRules,
    hooks: { ...noHooks, ...options.hooks },
    ...sessionArtifacts(store, rootId),
    ...(options.checkpoints ? { checkpoints: options.checkpoints } : {}),
    ...(options.asks ? { asks: options.asks } : {}),
    budget,
    recover: (task, team) => crew.recover(task, team),
    limits,
    system: ["You are the one that a person speaks with."],
    promptOnResume: "logged",
  };
  crew.equip(parts);
  const session = await Session.open(parts, {
    start: {
      keel: "test",
      cwd: "/project",
      settings: {
        model: "test-model",
        permissionMode: "default",
        thinking: { kind: "off" },
        ...options.settings,
      },
    },
  });
  crew.attach(session);
  tree.plant(session, clock);
  const events: Envelope[] = [];
  const answer = options.answer ?? ((): Answer => ({ verdict: "allow" }));
  session.onEvent((envelope) => {
    events.push(envelope);
    if (envelope.type !== "ask.opened") return;
    const given = answer(envelope.ask);
    const holder = tree.holderOf({ askId: envelope.ask.id });
    if (given)
      holder?.submit({ type: "answer", askId: envelope.ask.id, answer: given }).catch(() => undefined);
  });
  const settle = async (): Promise<void> => {
    for (;;) {
      await session.run();
      const { turn, pending, tasks } = session.state;
      const isBusy = [...tasks.values()].some(({ status }) => status === "running");
      if (!turn && pending.length === 0 && !isBusy) return;
      if (session.fault) throw session.fault;
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return {
    session,
    tree,
    crew,
    events,
    settle,
    async say(words) {
      await session.submit({ type: "input", content: [text(words)] });
      await session.run();
    },
    own: (type) => events.filter((event) => isOf(event, type) && !event.origin) as never,
    below: (type) => events.filter((event) => isOf(event, type) && event.origin) as never,
  };
}

const isOf = (event: Envelope, type: EventType): boolean => event.type === type;
