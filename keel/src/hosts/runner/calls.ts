/** Calls in the host's words: each begins once and ends once, in that order. */

import type { Json } from "../../kernel/json.ts";
import type { Origin } from "../../protocol/ask.ts";
import type { EnvelopeOf, EventType } from "../../protocol/event/envelope.ts";
import { textOf, toolUses } from "../../protocol/message.ts";
import { outcomeOf } from "../../protocol/outcome.ts";
import type { RunnerEvent } from "./events.ts";
import { countCall, type KnownCall, type RunnerDialectOutput, type RunnerMemo } from "./memo.ts";

type CallHandler<T extends EventType> = (event: EnvelopeOf<T>, memo: RunnerMemo) => RunnerDialectOutput;

/** What a person reads of a result; the whole of it is the model's. */
const maxSummary = 500;

/** The calls of a reply are known before they begin. */
export const knowCalls: CallHandler<"model.finished"> = ({ content, origin }, memo) => {
  const uses = toolUses(content);
  if (uses.length === 0) return [[], memo];
  const calls = new Map(memo.calls);
  const whose = whoseOf(origin);
  for (const { id, name, input } of uses) {
    const key = keyOf(id, origin);
    // An early call was told before its reply was whole.
    const known = calls.get(key);
    calls.set(key, { id, tool: name, seconds: 0, isTold: false, ...known, params: input, ...whose });
  }
  const events = uses.map(
    ({ id, name }): RunnerEvent => ({ type: "hook_pre_tool", toolUseId: id, tool: name, ...whose }),
  );
  return [events, { ...memo, calls }];
};

export const callStarts: CallHandler<"tool.started"> = ({ callId, tool, input, origin }, memo) => {
  const call = callOf(memo, { id: callId, tool }, origin);
  return tellStart({ ...call, params: input ?? call.params }, memo, origin);
};

export const callProgress: CallHandler<"tool.progress"> = ({ callId, tool, elapsedMs, origin }, memo) => {
  const seconds = Math.floor(elapsedMs / 1000);
  const known = memo.calls.get(keyOf(callId, origin));
  // An early call shows nothing before its reply is on record.
  if (!known?.isTold || seconds <= known.seconds) return [[], memo];
  const calls = new Map(memo.calls).set(keyOf(callId, origin), { ...known, seconds });
  return [
    [{ type: "tool_progress", toolUseId: callId, tool, elapsedMs, ...whoseOf(origin) }],
    { ...memo, calls },
  ];
};

export const callEnds: CallHandler<"tool.finished"> = (event, memo) => {
  const { callId, tool, failed, ms, content, todos, data, origin } = event;
  const outcome = outcomeOf(event);
  const isInterrupted = outcome.kind === "denied" ? outcome.interrupted : outcome.kind === "interrupted";
  const [starts, next] = tellStart(callOf(memo, { id: callId, tool }, origin), memo, origin);
  const calls = new Map(next.calls);
  calls.delete(keyOf(callId, origin));
  const whose = whoseOf(origin);
  const summary = textOf(content).trim().slice(0, maxSummary);
  const end: RunnerEvent = {
    type: "tool_end",
    toolUseId: callId,
    tool,
    success: !failed,
    summary,
    durationMs: ms,
    ...(outcome.kind === "denied" ? { denied: true } : {}),
    ...(isInterrupted ? { interrupted: true } : {}),
    ...whose,
  };
  const post: RunnerEvent = {
    type: "hook_post_tool",
    toolUseId: callId,
    tool,
    success: !failed,
    durationMs: ms,
    ...whose,
  };
  const list = todos?.map(({ id, text, status }) => ({ id, text, status }));
  return [
    [
      ...starts,
      end,
      post,
      ...(list && !origin ? [{ type: "todo_update", todos: list } as const] : []),
      ...(failed ? [] : workspaceNews(tool, data)),
    ],
    { ...next, calls, stats: countCall(next.stats, { tool, ms: isWaitedFor(memo, origin) ? 0 : ms }) },
  ];
};

/** An agent that somebody waits for works within the time of the call that started it. */
const isWaitedFor = ({ agents }: RunnerMemo, origin: Origin | undefined): boolean =>
  origin !== undefined && agents.get(origin.agentId)?.background !== true;

/** Calls whose end nobody told: they are over with the turn. */
export const openCallsEnd = (memo: RunnerMemo): RunnerEvent[] =>
  [...memo.calls.values()]
    .filter(({ isTold }) => isTold)
    .map(({ id, tool, agentId, parentToolUseId }) => ({
      type: "tool_end",
      toolUseId: id,
      tool,
      success: false,
      summary: "Interrupted.",
      durationMs: 0,
      interrupted: true,
      agentId,
      parentToolUseId,
    }));

function tellStart(call: KnownCall, memo: RunnerMemo, origin: Origin | undefined): RunnerDialectOutput {
  if (call.isTold) return [[], memo];
  const calls = new Map(memo.calls).set(keyOf(call.id, origin), { ...call, isTold: true });
  const { id: toolUseId, tool, params } = call;
  return [[{ type: "tool_start", toolUseId, tool, params, ...whoseOf(origin) }], { ...memo, calls }];
}

const callOf = (
  memo: RunnerMemo,
  { id, tool }: { id: string; tool: string },
  origin: Origin | undefined,
): KnownCall =>
  memo.calls.get(keyOf(id, origin)) ?? {
    id,
    tool,
    params: {},
    isTold: false,
    seconds: 0,
    ...whoseOf(origin),
  };

const keyOf = (id: string, origin: Origin | undefined): string => (origin ? `${origin.agentId}\0${id}` : id);

const whoseOf = (origin: Origin | undefined): { agentId?: string; parentToolUseId?: string } =>
  origin ? { agentId: origin.agentId, parentToolUseId: origin.parentCallId } : {};

/** What the workspace's own tools leave for the host; it stands in the log as their result. */
function workspaceNews(tool: string, data: Json | undefined): RunnerEvent[] {
  if (data === undefined || !tool.startsWith("mcp__workspace__")) return [];
  switch (tool.slice("mcp__workspace__".length)) {
    case "add_review_comment":
      return [{ type: "review_comment_added", comment: data }];
    case "propose_scripts_config":
      return [{ type: "scripts_config_proposed", proposal: data }];
    case "start_linear_issue":
    case "update_linear_status":
      return [{ type: "issue_updated", issue: data }];
    default:
      return [];
  }
}
