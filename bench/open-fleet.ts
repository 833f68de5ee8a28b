/** Sessions with all that they can have: real tools, a hook around each call, agents, logs on disk; the model is a function. */

import { TreeBudget } from "../keel/src/agents/budget.ts";
import { AgentSupervisor } from "../keel/src/agents/supervisor.ts";
import {
  type AgentLimits,
  type AgentPorts,
  AgentTree,
  defaultAgentLimits,
  sessionArtifacts,
} from "../keel/src/agents/tree.ts";
import { nodeClock, nodeIds } from "../keel/src/app/node-ports.ts";
import { defaultLimits } from "../keel/src/core/limits.ts";
import { Session } from "../keel/src/engine/session.ts";
import type { SessionPorts } from "../keel/src/engine/step-context.ts";
import { hooksFrom } from "../keel/src/hooks/run-hooks.ts";
import { noRules } from "../keel/src/policy/decide.ts";
import type { AgentProfile } from "../keel/src/ports/agent-definition.ts";
import type { Model } from "../keel/src/ports/model.ts";
import type { Tool } from "../keel/src/ports/tool.ts";
import { jsonlStore } from "../keel/src/store/jsonl/store.ts";
import { agentTool } from "../keel/src/tools/agent.ts";
import { builtInTools } from "../keel/src/tools/catalog.ts";
import { sendMessageTool } from "../keel/src/tools/send-message.ts";
import { nodeDocuments } from "../keel/src/workspace/files/documents.ts";
import { nodeFiles } from "../keel/src/workspace/files/files.ts";
import { nodeShell } from "../keel/src/workspace/processes/shell.ts";
import { nodeSearch } from "../keel/src/workspace/search/search.ts";

export type Fleet = {
  open(more?: { tools?: readonly Tool[] }): Promise<Session>;
  /** The durable events of a session and of its agents, as text. */
  logs(session: string): Promise<string[]>;
};

const worker: AgentProfile = {
  name: "worker",
  description: "Works.",
  prompt: "You are a worker.",
  from: "built-in",
};

export function openFleet({
  home,
  cwd,
  model,
  agentLimits = {},
}: {
  home: string;
  cwd: string;
  model: Model;
  agentLimits?: Partial<AgentLimits>;
}): Fleet {
  const clock = nodeClock();
  const ids = nodeIds();
  const store = jsonlStore({ home, clock, ids });
  const env = { PATH: process.env["PATH"] ?? "" };
  const workspace = {
    cwd,
    roots: [cwd],
    files: nodeFiles({ cwd, roots: [cwd] }),
    search: nodeSearch({ env }),
    documents: nodeDocuments(),
    shell: nodeShell({ env }),
  };
  const world: AgentPorts = {
    version: "bench",
    definitions: () => [worker],
    store,
    tools: (agents) => [agentTool(agents) as Tool, sendMessageTool(agents) as Tool],
    resolveModel: (value) => ({ ok: true, value }),
    system: ({ definition }) => [definition.prompt],
  };
  const start = {
    keel: "bench",
    cwd,
    settings: { model: "fleet", permissionMode: "bypassPermissions", thinking: { kind: "off" } },
  } as const;
  return {
    async open({ tools = [] } = {}) {
      const log = await store.create(ids.uuid(), { cwd });
      const budget = new TreeBudget({ limits: defaultLimits, clock });
      const tree = new AgentTree({ world, budget, limits: { ...defaultAgentLimits, ...agentLimits } });
      const crew = new AgentSupervisor(tree);
      const hooks = hooksFrom({
        hooks: [{ event: "PreToolUse", name: "watch", call: async () => undefined }],
        transcript: async () => undefined,
      });
      const parts: SessionPorts = {
        log,
        model,
        clock,
        ids,
        workspace,
        budget,
        hooks,
        rules: noRules,
        limits: defaultLimits,
        tools: [...builtInTools({ agents: crew }), ...tools],
        ...sessionArtifacts(store, log.session),
        recover: (task) => crew.recover(task),
        system: ["You are one of many."],
        promptOnResume: "logged",
      };
      crew.equip(parts);
      const session = await Session.open(parts, { start });
      crew.attach(session);
      tree.plant(session, clock);
      return session;
    },
    async logs(session) {
      const below = await store.list({ parent: session });
      const texts = [session, ...below.map(({ id }) => id)].map(async (id) => {
        const events = await Array.fromAsync(store.read(id));
        return JSON.stringify(events);
      });
      return Promise.all(texts);
    },
  };
}
