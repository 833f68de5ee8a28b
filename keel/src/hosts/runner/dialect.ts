/**
 * The session's events in the host's words: a pure fold. Calls begin before they end and end before the turn's result,
 * whatever overlaps; of an agent the host learns what it does, not what it says.
 */

import { asText, isObject } from "../../kernel/json.ts";
import type { Ask } from "../../protocol/ask.ts";
import { isCharge } from "../../protocol/bill.ts";
import { type Envelope, type EventHandlers, handle } from "../../protocol/event/envelope.ts";
import { callEnds, callProgress, callStarts, knowCalls, openCallsEnd } from "./calls.ts";
import type { RunnerEvent } from "./events.ts";
import { noStats, type RunnerDialectOutput, type RunnerMemo } from "./memo.ts";
import { addText, flushText, noParagraphs } from "./paragraphs.ts";
import { resultOf, turnEvents } from "./results.ts";

export function toEvents(envelope: Envelope, memo: RunnerMemo): RunnerDialectOutput {
  const { origin } = envelope;
  const [events, next] = origin
    ? (handle(fromAgent, envelope, memo) ?? [[], memo])
    : ownEvents(envelope, memo);
  const [inputId] = next.inputIds.length > 0 ? next.inputIds : memo.inputIds;
  return [events.map((event) => (inputId === undefined ? event : { inputId, ...event })), next];
}

function ownEvents(envelope: Envelope, before: RunnerMemo): RunnerDialectOutput {
  const costUsd = isCharge(envelope) ? (envelope.costUsd ?? 0) : 0;
  const memo = costUsd === 0 ? before : { ...before, totalCostUsd: before.totalCostUsd + costUsd };
  return handle(fromSession, envelope, memo) ?? [[], memo];
}

/** What is still open when everything ends: no call of a screen spins for ever, and no text is lost. */
export function lastEvents(memo: RunnerMemo): readonly RunnerEvent[] {
  const [inputId] = memo.inputIds;
  const events = [...openCallsEnd(memo), ...flush(memo)];
  return events.map((event) => (inputId === undefined ? event : { inputId, ...event }));
}

/** What the host is told of the session's own events; the others say nothing to it. */
const fromSession: EventHandlers<Envelope, [memo: RunnerMemo], RunnerDialectOutput> = {
  "turn.started": ({ inputIds }, memo) => {
    const [first] = inputIds;
    const next = { ...memo, inputIds, stats: noStats };
    const isKept = memo.checkpointing && first !== undefined;
    return [isKept ? [{ type: "checkpoint_created", checkpoint: first, at: "message" }] : [], next];
  },
  "input.joined": ({ inputIds }, memo) => [[], { ...memo, inputIds: [...memo.inputIds, ...inputIds] }],
  "input.dropped": (dropped, memo) => [
    memo.inputIds.includes(dropped.inputId)
      ? []
      : [{ inputId: dropped.inputId, ...resultOf(memo, { dropped }) }],
    memo,
  ],
  "reply.started": (_, memo) => [[], { ...memo, hasSpoken: false }],
  "text.delta": ({ text }, memo) => {
    const [parts, paragraphs] = addText(memo.paragraphs, text);
    return [parts.map(spoken), { ...memo, paragraphs, hasSpoken: true }];
  },
  "block.started": ({ block }, memo) => [block.type === "thinking" ? [{ type: "thinking_start" }] : [], memo],
  "thinking.delta": ({ text }, memo) => [[{ type: "thinking_delta", text }], memo],
  "block.finished": ({ block }, memo) => {
    if (block.type === "thinking") return [[{ type: "thinking", text: block.text }], memo];
    // What follows a text is not its paragraph.
    return block.type === "text" ? [flush(memo), { ...memo, paragraphs: noParagraphs }] : [[], memo];
  },
  "reply.withdrawn": ({ why }, memo) => [
    memo.hasSpoken ? [{ type: "assistant_text_withdrawn", reason: why.message }] : [],
    { ...memo, paragraphs: noParagraphs, hasSpoken: false },
  ],
  "model.finished": (event, memo) => {
    const [calls, next] = knowCalls(event, memo);
    const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = event.usage;
    const totalTokens = inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
    const usage = { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, totalTokens };
    return [
      [...flush(memo), { type: "context_usage", ...usage, model: event.model }, ...calls],
      { ...next, paragraphs: noParagraphs },
    ];
  },
  "tool.started": callStarts,
  "tool.progress": callProgress,
  "tool.finished": callEnds,
  "ask.opened": ({ ask }, memo) => [asking(ask), memo],
  "ask.closed": askCloses,
  "context.compacted": ({ trigger, tokensBefore, tokensAfter }, memo) => [
    [{ type: "compact_boundary", trigger, tokensBefore, tokensAfter }],
    memo,
  ],
  "settings.changed": ({ patch: { model, permissionMode: mode }, why }, memo) => [
    [
      ...(model === undefined ? [] : [{ type: "model_changed", model, why } as const]),
      ...(mode === undefined ? [] : [{ type: "permission_mode_changed", mode, why } as const]),
    ],
    memo,
  ],
  "task.changed": taskChanges,
  "turn.finished": (event, memo) => [
    [...openCallsEnd(memo), ...flush(memo), ...turnEvents(event, memo)],
    { ...memo, inputIds: [], paragraphs: noParagraphs, calls: new Map() },
  ],
  "session.closed": ({ reason }, memo) => [
    [{ type: "session_ended", sessionId: memo.sessionId, reason }],
    memo,
  ],
  "notice.raised": ({ level, text, code }, memo) => [[notification(level, "Notice", text, code)], memo],
  "retry.waiting": ({ attempt, mostAttempts, delayMs, fault }, memo) => {
    const message = `${fault.message} Trying again in ${Math.ceil(delayMs / 1000)} s (${attempt} of ${mostAttempts}).`;
    return [[notification("info", "Retry", message, fault.code)], memo];
  },
  "command.answered": ({ name: command, text }, memo) => [[{ type: "command_output", command, text }], memo],
};

/** Its words are for the agent that gave it the work; its calls are shown where that call is. */
const fromAgent: typeof fromSession = {
  "model.finished": knowCalls,
  "tool.started": callStarts,
  "tool.progress": callProgress,
  "tool.finished": callEnds,
  "ask.opened": ({ ask, origin }, memo) => [asking({ ...ask, origin: ask.origin ?? origin }), memo],
  "ask.closed": askCloses,
  "task.changed": taskChanges,
};

function askCloses(
  { askId: requestId, answer, by, who }: Extract<Envelope, { type: "ask.closed" }>,
  memo: RunnerMemo,
): RunnerDialectOutput {
  return [[{ type: "request_closed", requestId, approved: answer.verdict === "allow", by, who }], memo];
}

function taskChanges(
  { taskId, status, data = {} }: Extract<Envelope, { type: "task.changed" }>,
  memo: RunnerMemo,
): RunnerDialectOutput {
  const known = memo.agents.get(taskId);
  if (data.kind !== "agent" && known === undefined) {
    const { kind = "shell", description = "" } = data;
    const summary = data.summary || undefined;
    return [[{ type: "task_update", taskId, kind, status, description, summary }], memo];
  }
  if (status === "running") {
    const agentType = data.agent ?? "agent";
    const background = data.origin !== "waited";
    const next = { ...memo, agents: new Map(memo.agents).set(taskId, { kind: agentType, background }) };
    if (known !== undefined) return [[], next];
    const started: RunnerEvent = {
      type: "subagent_started",
      agentId: taskId,
      agentType,
      description: data.description ?? "",
      background,
      parentToolUseId: data.callId,
    };
    return [[started], next];
  }
  const active = [...memo.calls.values()].filter(({ agentId, isTold }) => agentId === taskId && isTold);
  const agents = new Map(memo.agents);
  agents.delete(taskId);
  const stopped: RunnerEvent = {
    type: "subagent_stopped",
    agentId: taskId,
    agentType: known?.kind ?? data.agent ?? "agent",
    status,
    activeTools: active.map(({ id }) => id),
  };
  return [[stopped], { ...memo, agents }];
}

/** What notification hooks hear of a question, a host hears too; then comes the question itself. */
const asking = (ask: Ask): RunnerEvent[] => [
  ...(ask.kind === "permission"
    ? [notification("info", ask.tool ?? "", ask.title, "permission_prompt")]
    : []),
  askEvent(ask),
];

/** What the session asks, in the host's words. */
export function askEvent(ask: Ask): RunnerEvent {
  const { id: requestId, callId: toolUseId, input, origin } = ask;
  const fields = isObject(input) ? input : {};
  const common = {
    requestId,
    toolUseId,
    agentId: origin?.agentId,
    parentToolUseId: origin?.parentCallId,
  };
  switch (ask.kind) {
    case "question":
      return { type: "user_question_request", ...common, questions: fields["questions"] ?? [] };
    case "plan": {
      const { plan, planFilePath } = fields;
      const planFile = typeof planFilePath === "string" ? planFilePath : undefined;
      return { type: "plan_approval_request", ...common, plan: asText(plan), planFile };
    }
    default: {
      const { tool, title, reason, options, schema } = ask;
      const kind = ask.kind === "permission" || ask.kind === "elicitation" ? ask.kind : "other";
      return {
        type: "tool_approval_request",
        ...common,
        kind,
        tool,
        title,
        reason,
        input,
        options: options.map(({ id, label, verdict, rule, preview }) => ({
          id,
          label,
          verdict,
          rule,
          preview,
        })),
        schema,
      };
    }
  }
}

const spoken = (text: string): RunnerEvent => ({ type: "assistant_text", text });
const flush = ({ paragraphs }: RunnerMemo): RunnerEvent[] => flushText(paragraphs).map(spoken);

export const notification = (
  level: "info" | "warning",
  title: string,
  message: string,
  code: string | undefined,
): RunnerEvent => ({ type: "agent_notification", level, title, message, code });
