/** How a turn ended, as the SDK tells it: the subtype, the terminal reason, and the words. */

import type { FaultData } from "../../kernel/fault.ts";
import type { FaultCode } from "../../kernel/faults.ts";
import { asObject, own, present } from "../../kernel/json.ts";
import { never } from "../../kernel/result.ts";
import { isUuid } from "../../kernel/uuid.ts";
import { modelsSince } from "../../protocol/bill.ts";
import { type ItemizedBill, noUsage, type Usage } from "../../protocol/usage.ts";
import { sayReason, sayUsd } from "../../view/say.ts";
import type { SDKAssistantMessageError } from "../messages/content.ts";
import type {
  SDKAssistantMessage,
  SDKMessage,
  SDKResultError,
  SDKResultFacts,
  SDKResultMessage,
  TerminalReason,
} from "../messages/messages.ts";
import type { ModelUsage } from "../messages/reports.ts";
import { textBlock, toStopReason, toUsage } from "./blocks.ts";
import { matchedTexts } from "./matched-texts.ts";
import { type DialectMemo, type DialectOutput, type DurableOf, newTurn, type TurnMemo } from "./memo.ts";
import {
  assistantMessage,
  identity,
  informationalMessage,
  modelMessage,
  originOf,
  synthetic,
} from "./say.ts";

/**
 * `answer`: the result has text. `apology`: the provider gave none, so an assistant message of our own comes first, and
 * the result is a success that is an error, as programs of this interface expect. `failure`: an error subtype.
 */
type ResultEnding =
  | { kind: "answer"; text: string; isError: boolean; terminal: TerminalReason; warning?: string }
  | { kind: "apology"; text: string; error: SDKAssistantMessageError; terminal: TerminalReason }
  | { kind: "failure"; subtype: SDKResultError["subtype"]; errors: string[]; terminal: TerminalReason };

export function resultOfTurn(event: DurableOf<"turn.finished">, memo: DialectMemo): DialectOutput {
  const turn = memo.turn ?? newTurn([]);
  const ending = endingOf(event, turn);
  const deferred = event.reason === "tool_deferred" ? [...turn.calls.values()][0] : undefined;
  const status = ending.kind === "apology" && event.fault ? statusOf(event.fault) : null;
  const apology =
    ending.kind === "apology" ? [apologyMessage(memo, { ...ending, status, at: event.at })] : [];
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
      ...(deferred && {
        deferred_tool_use: { id: deferred.id, name: deferred.name, input: asObject(deferred.input) },
        stop_reason: "tool_deferred" as const,
      }),
    },
  });
  const notes = warning.map((content) =>
    informationalMessage(identity(memo, "warning"), { content, level: "warning" }),
  );
  return [
    [...notes, ...authProblem(event, memo), ...apology, result],
    { ...next, turn: null, progress: new Map() },
  ];
}

/** No key, or one that is refused: a host can ask for another. */
function authProblem({ fault }: DurableOf<"turn.finished">, memo: DialectMemo): SDKMessage[] {
  if (fault?.code !== "key_missing" && fault?.code !== "key_refused") return [];
  const id = identity(memo, "auth");
  return [{ type: "auth_status", ...id, isAuthenticating: false, output: [], error: fault.message }];
}

/** The result of a command that needed no turn: a compaction between turns, a prompt that a hook blocked. */
export function resultWithoutTurn(
  memo: DialectMemo,
  ending: ResultEnding,
  { usage = noUsage, ms = 0, command }: { usage?: Usage; ms?: number; command?: string } = {},
): [SDKResultMessage, DialectMemo] {
  const more = present({ local_command: command });
  return resultMessage(memo, { ending, turn: newTurn([]), usage, ms, apiMs: ms, turns: 0, more });
}

export const answered = (text: string, terminal: TerminalReason = "completed"): ResultEnding => ({
  kind: "answer",
  text,
  isError: false,
  terminal,
});

const apology = (text: string, error: SDKAssistantMessageError, terminal: TerminalReason): ResultEnding => ({
  kind: "apology",
  text,
  error,
  terminal,
});

export const failure = (
  error: string,
  terminal: TerminalReason,
  subtype: SDKResultError["subtype"] = "error_during_execution",
): ResultEnding => ({ kind: "failure", subtype, errors: [error], terminal });

function endingOf(event: DurableOf<"turn.finished">, turn: TurnMemo): ResultEnding {
  const words = event.fault?.message ?? sayReason(event.reason);
  switch (event.reason) {
    case "completed":
      return answered(event.answer === undefined ? turn.text : JSON.stringify(event.answer));
    case "stop_hook_limit":
      return { kind: "answer", text: turn.text, isError: false, terminal: "completed", warning: words };
    case "hook_stopped":
      return turn.stoppedByTool ? answered("", "hook_stopped") : answered(turn.text, "stop_hook_prevented");
    case "prompt_blocked":
      return answered("", "hook_stopped");
    case "tool_deferred":
      return answered("", "tool_deferred");
    case "refusal":
      return { kind: "answer", text: turn.text || words, isError: true, terminal: "model_error" };
    case "empty_reply":
      return apology(words, "unknown", "model_error");
    case "model_error":
      return apology(words, event.fault ? errorClass(event.fault) : "unknown", "api_error");
    case "prompt_too_long":
      return apology(words, "invalid_request", "prompt_too_long");
    case "compaction_stuck":
      return apology(words, "invalid_request", "rapid_refill_breaker");
    case "output_limit":
      return apology(words, "max_output_tokens", "api_error");
    case "max_turns":
      return failure(matchedTexts.maxTurns(event.requests), "max_turns", "error_max_turns");
    case "budget_usd": {
      const cost = `${matchedTexts.maxBudget}; this turn cost ${sayUsd(event.costUsd)}.`;
      return failure(cost, "budget_exhausted", "error_max_budget_usd");
    }
    case "budget_tokens":
    case "budget_time": {
      const cost = `${words}; this turn cost ${sayUsd(event.costUsd)}.`;
      return failure(cost, "budget_exhausted", "error_max_budget_usd");
    }
    case "stuck":
      return failure(`${words}.`, "blocking_limit");
    case "structured_output_retries":
      return failure(words, "structured_output_retry_exhausted", "error_max_structured_output_retries");
    case "interrupted":
    case "lost":
    case "closed":
      return failure(sayReason(event.reason), turn.phase === "tools" ? "aborted_tools" : "aborted_streaming");
    default:
      return never(event.reason);
  }
}

function apologyMessage(
  memo: DialectMemo,
  {
    text,
    error,
    status,
    at,
  }: { text: string; error: SDKAssistantMessageError; status: number | null; at: number },
): SDKAssistantMessage {
  const id = identity(memo, "apology");
  const content = [textBlock(text)];
  return assistantMessage(
    modelMessage({ ...synthetic, id: id.uuid, content, stop_reason: "stop_sequence", stop_sequence: "" }),
    { id, at, more: { error, is_api_error_message: true, api_error_status: status } },
  );
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
    modelUsage: modelUsageOf(memo.models, memo.facts.models),
    model_usage_since_last_result: modelUsageOf(modelsSince(memo.models, memo.billed), memo.facts.models),
    permission_denials: [...turn.denials],
    terminal_reason: ending.terminal,
    result_index: memo.results,
    fast_mode_state: "off",
    subagent_stats: { spawned: memo.spawned },
    ...(first ? { user_message_uuid: first, user_message_uuids: asked } : {}),
    ...(origin ? { origin } : {}),
    ...parts.more,
    ...identity(memo, "result"),
  };
  const next = { ...memo, results: memo.results + 1, billed: memo.models };
  if (ending.kind === "failure") return [{ ...facts, subtype: ending.subtype, errors: ending.errors }, next];
  const timing = present({
    ttft_ms: turn.firstMs,
    ttft_stream_ms: turn.firstMs,
    time_to_request_ms: turn.requestMs,
  });
  return [{ ...facts, subtype: "success", result: ending.text, ...timing }, next];
}

type KnownLimits = NonNullable<DialectMemo["facts"]["models"]>;
const unknownLimits = { windowTokens: 0, maxOutputTokens: 0 };

export function modelUsageOf(
  models: ItemizedBill["models"],
  known: KnownLimits = {},
): Record<string, ModelUsage> {
  return Object.fromEntries(
    Object.entries(models).map(([model, bill]) => [model, usageOf(bill, own(known, model) ?? unknownLimits)]),
  );
}

const usageOf = (
  { usage, costUsd, unpricedTokens }: ItemizedBill["models"][string],
  { windowTokens, maxOutputTokens }: KnownLimits[string],
): ModelUsage => ({
  inputTokens: usage.inputTokens,
  outputTokens: usage.outputTokens,
  ...(usage.thinkingTokens ? { thinkingTokens: usage.thinkingTokens } : {}),
  cacheReadInputTokens: usage.cacheReadTokens,
  cacheCreationInputTokens: usage.cacheWriteTokens,
  webSearchRequests: usage.webSearches ?? 0,
  costUSD: costUsd,
  contextWindow: windowTokens,
  maxOutputTokens,
  costBasis: unpricedTokens > 0 ? "unknown" : "list",
});

/** The class in which programs know a fault of a model request. */
export const errorClass = ({ code }: FaultData): SDKAssistantMessageError => classes[code] ?? "unknown";

/** The HTTP status that the provider gave, if it gave one. */
export function statusOf({ detail }: FaultData): number | null {
  const status = detail?.["status"];
  return typeof status === "number" ? status : null;
}

const classes: Partial<Record<FaultCode, SDKAssistantMessageError>> = {
  key_missing: "authentication_failed",
  key_refused: "authentication_failed",
  model_forbidden: "authentication_failed",
  billing: "billing_error",
  model_unknown: "model_not_found",
  model_bad_request: "invalid_request",
  prompt_too_long: "invalid_request",
  request_too_large: "invalid_request",
  rate_limited: "rate_limit",
  overloaded: "overloaded",
  server_error: "server_error",
};
