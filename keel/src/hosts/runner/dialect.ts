/**
 * The session's events in the host's words: a pure fold. Calls begin before they end and end before the turn's result,
 * whatever overlaps; of an agent the host learns what it does, not what it says.
 */
import type { Envelope } from "../../protocol/event/envelope.ts";
import type { Origin } from "../../protocol/origin.ts";
import { askEvent } from "./ask-event.ts";
import { callEnds, callProgress, callStarts, knowCalls, openCallsEnd } from "./calls.ts";
import type { RunnerEvent } from "./events.ts";
import type { RunnerMemo } from "./memo.ts";
import { addText, flushText, noParagraphs } from "./paragraphs.ts";
import { resultOf, turnEvents } from "./results.ts";
import { noStats } from "./stats.ts";

export type RunnerDialectOutput = readonly [readonly RunnerEvent[], RunnerMemo];

export function toEvents(envelope: Envelope, memo: RunnerMemo): RunnerDialectOutput {
  const [events, next] = envelope.origin
    ? fromAgent(envelope, envelope.origin, memo)
    : fromSession(envelope, memo);
  const [inputId] = next.inputIds.length > 0 ? next.inputIds : memo.inputIds;
  return [events.map((event) => (inputId === undefined ? event : { inputId, ...event })), next];
}

/** What is still open when everything ends: no call of a screen spins for ever, and no text is lost. */
export function lastEvents(memo: RunnerMemo): readonly RunnerEvent[] {
  const [inputId] = memo.inputIds;
  const events = [...openCallsEnd(memo), ...flush(memo)];
  return events.map((event) => (inputId === undefined ? event : { inputId, ...event }));
}

function fromSession(envelope: Envelope, memo: RunnerMemo): RunnerDialectOutput {
  switch (envelope.type) {
    case "turn.started": {
      const inputIds = envelope.inputIds;
      const [first] = inputIds;
      const next = { ...memo, inputIds, stats: noStats, hasSaved: false };
      const isKept = memo.checkpointing && first !== undefined;
      return [isKept ? [{ type: "checkpoint_created", checkpoint: first, at: "message" }] : [], next];
    }
    case "input.joined":
      return [[], { ...memo, inputIds: [...memo.inputIds, ...envelope.inputIds] }];
    case "input.dropped":
      return [
        memo.inputIds.includes(envelope.inputId)
          ? []
          : [{ inputId: envelope.inputId, ...resultOf(memo, { dropped: envelope }) }],
        memo,
      ];
    case "reply.started":
      return [[], { ...memo, hasSpoken: false }];
    case "text.delta": {
      const [parts, paragraphs] = addText(memo.paragraphs, envelope.text);
      return [parts.map(spoken), { ...memo, paragraphs, hasSpoken: true }];
    }
    case "block.started":
      return [envelope.block.type === "thinking" ? [{ type: "thinking_start" }] : [], memo];
    case "thinking.delta":
      return [[{ type: "thinking_delta", text: envelope.text }], memo];
    case "block.finished": {
      const { block } = envelope;
      if (block.type === "thinking") return [[{ type: "thinking", text: block.text }], memo];
      // What follows a text is not its paragraph.
      return block.type === "text" ? [flush(memo), { ...memo, paragraphs: noParagraphs }] : [[], memo];
    }
    case "reply.withdrawn":
      return [
        memo.hasSpoken ? [{ type: "assistant_text_withdrawn", reason: envelope.why.message }] : [],
        { ...memo, paragraphs: noParagraphs, hasSpoken: false },
      ];
    case "model.finished": {
      const [calls, next] = knowCalls(envelope, memo, undefined);
      const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = envelope.usage;
      const totalTokens = inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
      const usage = { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, totalTokens };
      return [
        [...flush(memo), { type: "context_usage", ...usage, model: envelope.model }, ...calls],
        { ...next, paragraphs: noParagraphs, totalCostUsd: memo.totalCostUsd + (envelope.costUsd ?? 0) },
      ];
    }
    case "tool.started":
      return callStarts(envelope, memo, undefined);
    case "tool.progress":
      return callProgress(envelope, memo, undefined);
    case "tool.finished":
      return callEnds(envelope, memo, undefined);
    case "ask.opened":
      return [[askEvent(envelope.ask)], memo];
    case "ask.closed": {
      const { askId: requestId, answer, by } = envelope;
      return [[{ type: "request_closed", requestId, approved: answer.verdict === "allow", by }], memo];
    }
    case "context.compacted": {
      const { trigger, tokensBefore, tokensAfter, costUsd } = envelope;
      return [
        [{ type: "compact_boundary", trigger, tokensBefore, tokensAfter }],
        { ...memo, totalCostUsd: memo.totalCostUsd + (costUsd ?? 0) },
      ];
    }
    case "model.failed":
    case "model.consulted":
      return [[], { ...memo, totalCostUsd: memo.totalCostUsd + (envelope.costUsd ?? 0) }];
    case "settings.changed": {
      const { model, permissionMode: mode } = envelope.patch;
      const { why } = envelope;
      return [
        [
          ...(model === undefined ? [] : [{ type: "model_changed", model, why } as const]),
          ...(mode === undefined ? [] : [{ type: "permission_mode_changed", mode, why } as const]),
        ],
        memo,
      ];
    }
    case "files.saved":
      return [[], { ...memo, hasSaved: true }];
    case "task.changed":
      return taskChanges(envelope, memo);
    case "turn.finished": {
      const ends = openCallsEnd(memo);
      const events = [...ends, ...flush(memo), ...turnEvents(envelope, memo)];
      return [events, { ...memo, inputIds: [], paragraphs: noParagraphs, calls: new Map() }];
    }
    case "session.closed":
      return [[{ type: "session_ended", sessionId: memo.sessionId, reason: envelope.reason }], memo];
    case "notice.raised": {
      const { level, text: message, code } = envelope;
      return [[notification(level, "Notice", message, code)], memo];
    }
    case "retry.waiting": {
      const { attempt, mostAttempts, delayMs, fault } = envelope;
      const message = `${fault.message} Trying again in ${Math.ceil(delayMs / 1000)} s (${attempt} of ${mostAttempts}).`;
      return [[notification("info", "Retry", message, fault.code)], memo];
    }
    case "command.answered":
      return [[{ type: "command_output", command: envelope.name, text: envelope.text }], memo];
    default:
      return [[], memo];
  }
}

/** Its words are for the agent that gave it the work; its calls are shown where that call is. */
function fromAgent(envelope: Envelope, origin: Origin, memo: RunnerMemo): RunnerDialectOutput {
  switch (envelope.type) {
    case "model.finished": {
      const [calls, next] = knowCalls(envelope, memo, origin);
      return [calls, next];
    }
    case "tool.started":
      return callStarts(envelope, memo, origin);
    case "tool.progress":
      return callProgress(envelope, memo, origin);
    case "tool.finished":
      return callEnds(envelope, memo, origin);
    case "ask.opened":
      return [[askEvent({ ...envelope.ask, origin: envelope.ask.origin ?? origin })], memo];
    case "ask.closed": {
      const { askId: requestId, answer, by } = envelope;
      return [[{ type: "request_closed", requestId, approved: answer.verdict === "allow", by }], memo];
    }
    case "task.changed":
      return taskChanges(envelope, memo);
    default:
      return [[], memo];
  }
}

function taskChanges(
  { taskId, status, data = {} }: Extract<Envelope, { type: "task.changed" }>,
  memo: RunnerMemo,
): RunnerDialectOutput {
  const known = memo.agents.get(taskId);
  if (data.kind !== "agent" && known === undefined) {
    const { kind = "shell", description = "", summary } = data;
    return [
      [{ type: "task_update", taskId, kind, status, description, ...(summary ? { summary } : {}) }],
      memo,
    ];
  }
  if (status === "running") {
    const agentType = data.agent ?? "agent";
    return [
      known === undefined
        ? [
            {
              type: "subagent_started",
              agentId: taskId,
              agentType,
              description: data.description ?? "",
              background: data.origin !== "waited",
              ...(data.callId === undefined ? {} : { parentToolUseId: data.callId }),
            },
          ]
        : [],
      { ...memo, agents: new Map(memo.agents).set(taskId, agentType) },
    ];
  }
  const active = [...memo.calls.values()].filter(({ agentId, isTold }) => agentId === taskId && isTold);
  const agents = new Map(memo.agents);
  agents.delete(taskId);
  return [
    [
      {
        type: "subagent_stopped",
        agentId: taskId,
        agentType: known ?? data.agent ?? "agent",
        status,
        activeTools: active.map(({ id }) => id),
      },
    ],
    { ...memo, agents },
  ];
}

const spoken = (text: string): RunnerEvent => ({ type: "assistant_text", text });
const flush = ({ paragraphs }: RunnerMemo): RunnerEvent[] => flushText(paragraphs).map(spoken);

const notification = (
  level: "info" | "warning",
  title: string,
  message: string,
  code: string | undefined,
): RunnerEvent => ({
  type: "agent_notification",
  level,
  title,
  message,
  ...(code === undefined ? {} : { code }),
});
