/** How a turn ended, as the SDK tells it: the subtype, the terminal reason, and the words. */
import { never } from "../../kernel/never.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import { noUsage, type Usage } from "../../protocol/usage.ts";
import { sayReason, sayUsd } from "../../view/say.ts";
import type { SDKAssistantMessageError } from "../messages/content.ts";
import type {
  ModelUsage,
  SDKAssistantMessage,
  SDKMessage,
  SDKResultError,
  SDKResultFacts,
  SDKResultMessage,
  TerminalReason,
} from "../messages/messages.ts";
import { toStopReason, toUsage } from "./blocks.ts";
import { errorClass, statusOf } from "./errors.ts";
import { type DialectMemo, newTurn, type TurnMemo } from "./memo.ts";
import { identity, informationalMessage, originOf, timestamp } from "./say.ts";
import { isUuid } from "./uuid.ts";

export type TurnFinishedEvent = Extract<Durable, { type: "turn.finished" }>;

/**
 * `answer`: the result has text. `apology`: the provider gave none, so an assistant message of our own comes first, and
 * the result is a success that is an error, as programs of this interface expect. `failure`: an error subtype.
 */
export type ResultEnding =
  | { kind: "answer"; text: string; isError: boolean; terminal: TerminalReason; warning?: string }
  | { kind: "apology"; text: string; error: SDKAssistantMessageError; terminal: TerminalReason }
  | { kind: "failure"; subtype: SDKResultError["subtype"]; errors: string[]; terminal: TerminalReason };

export function resultOfTurn(event: TurnFinishedEvent, memo: DialectMemo): [SDKMessage[], DialectMemo] {
  const turn = memo.turn ?? newTurn([]);
  const ending = endingOf(event, turn);
  const deferred = event.reason === "tool_deferred" ? [...turn.calls.values()][0] : undefined;
  const status = ending.kind === "apology" && event.fault ? statusOf(event.fault) : null;
  const apology = ending.kind === "apology" ? [apologyMessage(memo, { ending, status, at: event.at })] : [];
  const warning = ending.kind === "answer" && ending.warning !== undefined ? [ending.warning] : [];
  const [result, next] = resultMessage(memo, {
    ending,
    turn,
    usage: turn.usage,
    ms: event.ms,
    apiMs: event.apiMs,
    turns: event.reason === "prompt_blocked" ? 0 : 1 + turn.userMessages,
    more: {
      ...(status === null ? {} : { api_error_status: status }),
      ...(event.answer === undefined ? {} : { structured_output: event.answer }),
      ...(deferred
        ? { deferred_tool_use: { id: deferred.id, name: deferred.name, input: deferred.input } }
        : {}),
      ...(deferred ? { stop_reason: "tool_deferred" as const } : {}),
    },
  });
  const notes = warning.map((content) =>
    informationalMessage(identity(memo, "warning"), { content, level: "warning" }),
  );
  return [[...notes, ...apology, result], { ...next, turn: null, progress: new Map() }];
}

/** The result of a command that needed no turn: a compaction between turns, a prompt that a hook blocked. */
export function resultWithoutTurn(
  memo: DialectMemo,
  {
    ending,
    usage = noUsage,
    ms,
    more,
  }: { ending: ResultEnding; usage?: Usage; ms: number; more: Partial<SDKResultFacts> },
): [SDKResultMessage, DialectMemo] {
  return resultMessage(memo, { ending, turn: newTurn([]), usage, ms, apiMs: ms, turns: 0, more });
}

function endingOf(event: TurnFinishedEvent, turn: TurnMemo): ResultEnding {
  const answer = (text: string, terminal: TerminalReason): ResultEnding => ({
    kind: "answer",
    text,
    isError: false,
    terminal,
  });
  const words = event.fault?.message ?? sayReason(event.reason);
  switch (event.reason) {
    case "completed":
      return answer(event.answer === undefined ? turn.text : JSON.stringify(event.answer), "completed");
    case "stop_hook_limit":
      return { kind: "answer", text: turn.text, isError: false, terminal: "completed", warning: words };
    case "hook_stopped":
      return turn.stoppedByTool ? answer("", "hook_stopped") : answer(turn.text, "stop_hook_prevented");
    case "prompt_blocked":
      return answer("", "hook_stopped");
    case "tool_deferred":
      return answer("", "tool_deferred");
    case "refusal":
      return { kind: "answer", text: turn.text || words, isError: true, terminal: "model_error" };
    case "empty_reply":
      return { kind: "apology", text: words, error: "unknown", terminal: "model_error" };
    case "model_error":
      return {
        kind: "apology",
        text: words,
        error: event.fault ? errorClass(event.fault) : "unknown",
        terminal: "api_error",
      };
    case "prompt_too_long":
      return { kind: "apology", text: words, error: "invalid_request", terminal: "prompt_too_long" };
    case "compaction_stuck":
      return { kind: "apology", text: words, error: "invalid_request", terminal: "rapid_refill_breaker" };
    case "output_limit":
      return { kind: "apology", text: words, error: "max_output_tokens", terminal: "api_error" };
    case "max_turns":
      return {
        kind: "failure",
        subtype: "error_max_turns",
        errors: [`${words} (${event.requests}).`],
        terminal: "max_turns",
      };
    case "budget_usd":
    case "budget_tokens":
    case "budget_time":
      return {
        kind: "failure",
        subtype: "error_max_budget_usd",
        errors: [`${words}; this turn cost ${sayUsd(event.costUsd)}.`],
        terminal: "budget_exhausted",
      };
    case "stuck":
      return {
        kind: "failure",
        subtype: "error_during_execution",
        errors: [`${words}.`],
        terminal: "blocking_limit",
      };
    case "structured_output_retries":
      return {
        kind: "failure",
        subtype: "error_max_structured_output_retries",
        errors: [words],
        terminal: "structured_output_retry_exhausted",
      };
    case "interrupted":
    case "lost":
    case "closed": {
      const terminal = turn.phase === "tools" ? "aborted_tools" : "aborted_streaming";
      return {
        kind: "failure",
        subtype: "error_during_execution",
        errors: [sayReason(event.reason)],
        terminal,
      };
    }
    default:
      return never(event.reason);
  }
}

function apologyMessage(
  memo: DialectMemo,
  {
    ending,
    status,
    at,
  }: { ending: Extract<ResultEnding, { kind: "apology" }>; status: number | null; at: number },
): SDKAssistantMessage {
  const id = identity(memo, "apology");
  return {
    type: "assistant",
    message: {
      id: id.uuid,
      type: "message",
      role: "assistant",
      model: "<synthetic>",
      content: [{ type: "text", text: ending.text }],
      stop_reason: "stop_sequence",
      stop_sequence: "",
      usage: toUsage(noUsage),
    },
    parent_tool_use_id: null,
    error: ending.error,
    is_api_error_message: true,
    api_error_status: status,
    ...id,
    ...timestamp(at),
  };
}

type ResultParts = {
  ending: ResultEnding;
  turn: TurnMemo;
  usage: Usage;
  ms: number;
  apiMs: number;
  turns: number;
  more: Partial<SDKResultFacts>;
};

function resultMessage(memo: DialectMemo, parts: ResultParts): [SDKResultMessage, DialectMemo] {
  const { ending, turn } = parts;
  const origin = turn.inputs[0] && originOf(turn.inputs[0]);
  const asked = turn.inputs.map(({ id }) => id).filter(isUuid);
  const [first] = asked;
  const lastStop = turn.stop === null ? null : toStopReason(turn.stop);
  const facts: SDKResultFacts = {
    type: "result",
    is_error: ending.kind === "answer" ? ending.isError : true,
    duration_ms: parts.ms,
    duration_api_ms: parts.apiMs,
    num_turns: parts.turns,
    stop_reason: ending.kind === "apology" ? "stop_sequence" : lastStop,
    total_cost_usd: memo.costUsd,
    usage: toUsage(parts.usage),
    modelUsage: modelUsage(memo),
    permission_denials: [...turn.denials],
    terminal_reason: ending.terminal,
    result_index: memo.results,
    ...(first ? { user_message_uuid: first, user_message_uuids: asked } : {}),
    ...(origin ? { origin } : {}),
    ...parts.more,
    ...identity(memo, "result"),
  };
  const next = { ...memo, results: memo.results + 1 };
  if (ending.kind === "failure") return [{ ...facts, subtype: ending.subtype, errors: ending.errors }, next];
  return [{ ...facts, subtype: "success", result: ending.text }, next];
}

function modelUsage({ models, facts }: DialectMemo): Record<string, ModelUsage> {
  return Object.fromEntries(
    Object.entries(models).map(([model, { usage, costUsd, unpricedTokens }]) => [
      model,
      modelUsageOf({ usage, costUsd, unpriced: unpricedTokens > 0 }, knownLimits(facts.models, model)),
    ]),
  );
}

type KnownModels = DialectMemo["facts"]["models"];

function knownLimits(models: KnownModels, model: string): NonNullable<KnownModels>[string] {
  const known = models && Object.hasOwn(models, model) ? models[model] : undefined;
  return known ?? unknownLimits;
}

const unknownLimits = { windowTokens: 0, maxOutputTokens: 0 };

export function modelUsageOf(
  { usage, costUsd, unpriced }: { usage: Usage; costUsd: number; unpriced: boolean },
  limits: NonNullable<KnownModels>[string] = unknownLimits,
): ModelUsage {
  return {
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    ...(usage.thinkingTokens ? { thinkingTokens: usage.thinkingTokens } : {}),
    cacheReadInputTokens: usage.cacheReadTokens,
    cacheCreationInputTokens: usage.cacheWriteTokens,
    webSearchRequests: usage.webSearches ?? 0,
    costUSD: costUsd,
    contextWindow: limits.windowTokens,
    maxOutputTokens: limits.maxOutputTokens,
    costBasis: unpriced ? "unknown" : "list",
  };
}
