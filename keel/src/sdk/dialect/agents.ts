/**
 * What agents do, as messages: the same events through the same dialect, with a memo of their own. What remains of it is
 * their calls and results, each with the call that started them; their words only for those who asked for them.
 */

import { present } from "../../kernel/json.ts";
import type { Origin } from "../../protocol/ask.ts";
import { type Envelope, isDurable } from "../../protocol/event/envelope.ts";
import { toolUses } from "../../protocol/message.ts";
import { contextTokens } from "../../protocol/usage.ts";
import type { SDKSentMessage } from "../messages/messages.ts";
import type { SDKTaskProgressMessage } from "../messages/system.ts";
import { toldKind } from "../names.ts";
import { toInputBlock } from "./blocks.ts";
import { type AgentMemo, type DialectMemo, type DialectOutput, newMemo } from "./memo.ts";
import { identity, userMessage } from "./say.ts";

type Dialect = (envelope: Envelope, memo: DialectMemo) => DialectOutput;

export function fromAgent(
  { origin, ...envelope }: Envelope & { origin: Origin },
  memo: DialectMemo,
  toMessages: Dialect,
): DialectOutput {
  // Pieces of what an agent says are nobody's to see.
  if (!isDurable(envelope)) return [[], memo];
  const before = memo.agents.get(origin.agentId) ?? newAgent(envelope, memo);
  const prompts = promptsIn(envelope, before.memo);
  const [told, after] = toMessages(envelope, before.memo);
  const agent = counted({ ...before, memo: after }, envelope);
  const progress = progressOf(envelope, { agent, origin, memo });
  const shown = [...prompts, ...told.filter((message) => isShown(message, memo, origin))];
  const next = new Map(memo.agents);
  if (envelope.type === "session.closed") next.delete(origin.agentId);
  else next.set(origin.agentId, agent);
  return [[...progress, ...shown.map((message) => marked(message, origin, memo))], { ...memo, agents: next }];
}

function newAgent(envelope: Envelope, { facts }: DialectMemo): AgentMemo {
  const own = { ...facts, sessionId: envelope.session, partialMessages: false, replayUserMessages: false };
  return { memo: newMemo(own), startedAt: envelope.at, tokens: 0, toolUses: 0, lastTool: undefined };
}

function counted(agent: AgentMemo, envelope: Envelope): AgentMemo {
  if (envelope.type !== "model.finished") return agent;
  const uses = toolUses(envelope.content);
  return {
    ...agent,
    tokens: agent.tokens + contextTokens(envelope.usage),
    toolUses: agent.toolUses + uses.length,
    lastTool: uses.at(-1)?.name ?? agent.lastTool,
  };
}

/** What an agent was given to do stands before what it does. */
function promptsIn(envelope: Envelope, memo: DialectMemo): SDKSentMessage[] {
  if (envelope.type !== "turn.started") return [];
  const told = { ...memo, seq: envelope.seq };
  return envelope.inputIds.flatMap((id) => {
    const input = memo.inputs.get(id);
    if (!input) return [];
    const content = input.content.map(toInputBlock);
    return [userMessage(told, { label: `prompt/${id}`, at: envelope.at, content })];
  });
}

function progressOf(
  envelope: Envelope,
  { agent, origin, memo }: { agent: AgentMemo; origin: Origin; memo: DialectMemo },
): SDKSentMessage[] {
  if (envelope.type !== "model.finished" || toolUses(envelope.content).length === 0) return [];
  const progress: SDKTaskProgressMessage = {
    type: "system",
    subtype: "task_progress",
    uuid: identity(agent.memo, "progress").uuid,
    session_id: memo.facts.sessionId,
    task_id: origin.agentId,
    ...present({ run_id: memo.tasks.get(origin.agentId)?.about.run_id }),
    tool_use_id: origin.parentCallId,
    description: origin.description ?? origin.kind,
    subagent_type: toldKind(origin.kind),
    usage: {
      total_tokens: agent.tokens,
      tool_uses: agent.toolUses,
      duration_ms: Math.max(0, envelope.at - agent.startedAt),
    },
    ...(agent.lastTool === undefined ? {} : { last_tool_name: agent.lastTool }),
  };
  return [progress];
}

/** Calls and results always, words on demand or from the background; an agent's turns, states and lists are its own. */
function isShown(message: SDKSentMessage, { facts, tasks }: DialectMemo, { agentId }: Origin): boolean {
  switch (message.type) {
    case "assistant":
      // Nobody waits for one in the background: its words are news wherever it runs.
      return (
        facts.agentText === true ||
        tasks.get(agentId)?.place === "background" ||
        message.message.content.some(({ type }) => type === "tool_use")
      );
    case "user":
      return true;
    case "system":
      return agentSystem.has(message.subtype);
    default:
      return false;
  }
}

const agentSystem: ReadonlySet<string> = new Set([
  "permission_denied",
  "task_started",
  "task_updated",
  "task_notification",
]);

function marked(message: SDKSentMessage, origin: Origin, { facts }: DialectMemo): SDKSentMessage {
  const about = {
    session_id: facts.sessionId,
    agent_id: origin.agentId,
    subagent_type: toldKind(origin.kind),
    ...(origin.description === undefined ? {} : { task_description: origin.description }),
  };
  if (message.type === "assistant" || message.type === "user")
    return { ...message, ...about, parent_tool_use_id: origin.parentCallId };
  if (message.type !== "system") return message;
  if (message.subtype === "permission_denied")
    return { ...message, session_id: facts.sessionId, agent_id: origin.agentId };
  if (message.subtype === "task_started")
    return {
      ...message,
      session_id: facts.sessionId,
      parent_task_id: origin.agentId,
      spawn_depth: origin.depth + 1,
    };
  return { ...message, session_id: facts.sessionId };
}
