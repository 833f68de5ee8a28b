/** What happens inside a turn: replies, tool results, and words that join. */
import { asObject, type Json } from "../../kernel/json.ts";
import { never } from "../../kernel/result.ts";
import { oneLine, shorten } from "../../kernel/text.ts";
import type { Denial, Input } from "../../protocol/event/durable.ts";
import { lastTextOf, type ToolUse } from "../../protocol/message.ts";
import { type Outcome, outcomeOf } from "../../protocol/outcome.ts";
import { addUsage } from "../../protocol/usage.ts";
import { isShownBlock, textOfParts } from "../../view/shown.ts";
import type { SDKSentMessage } from "../messages/messages.ts";
import type { SDKPermissionDeniedMessage } from "../messages/system.ts";
import { toContentBlock, toInputBlock, toResultContent, withPicture } from "./blocks.ts";
import { decisionOf, ownerOf } from "./decided.ts";
import { fromForegroundEnd } from "./foreground.ts";
import type { DialectMemo, DialectOutput, DurableOf, TurnMemo } from "./memo.ts";
import { assistantMessage, identity, idOfBlock, modelMessage, replayMessage, userMessage } from "./say.ts";
import { closeStream } from "./stream.ts";

export function inTurn(memo: DialectMemo, change: (turn: TurnMemo) => TurnMemo): DialectMemo {
  return memo.turn ? { ...memo, turn: change(memo.turn) } : memo;
}

/** One assistant message per block; with partial messages, the end of the stream follows. */
export function fromReply(event: DurableOf<"model.finished">, memo: DialectMemo): DialectOutput {
  const shown = event.content
    .map((block, index) => ({ block, index }))
    .filter(({ block }) => isShownBlock(block, event.stop));
  const { model, providerId: id = event.messageId } = event;
  const messages = shown.flatMap(({ block, index }) => {
    const content = toContentBlock(block);
    if (!content) return [];
    // Messages of one reply have its id and its usage: whoever sums them up counts an id once.
    const message = modelMessage({ id, model, content: [content], usage: event.usage });
    const { sessionId } = memo.facts;
    const uuid = idOfBlock({ sessionId, seq: memo.seq }, index);
    const about = { id: { uuid, session_id: sessionId }, at: event.at };
    const more = { request_id: event.requestId, ...(block.type === "tool_use" ? ownerOf(block) : {}) };
    return [assistantMessage(message, { ...about, more })];
  });
  const [ends, closed] = closeStream(memo, event);
  const calls = shown.flatMap(({ block }): [string, ToolUse][] =>
    block.type === "tool_use" ? [[block.id, block]] : [],
  );
  const next = inTurn(closed, (turn) => ({
    ...turn,
    usage: addUsage(turn.usage, event.usage),
    firstMs: turn.firstMs ?? firstMsOf(turn, event),
    stop: event.stop,
    text: lastTextOf(event.content),
    settled: [],
    calls: new Map(calls),
    phase: calls.length > 0 ? "tools" : turn.phase,
  }));
  return [[...messages, ...ends], next];
}

/** A reply may be that of a later try. */
function firstMsOf({ startedAt, askedAt }: TurnMemo, { firstMs }: DurableOf<"model.finished">) {
  const asked = askedAt === undefined ? undefined : since(startedAt, askedAt);
  return asked === undefined || firstMs === undefined ? firstMs : asked + firstMs;
}

/** A clock may have been set back meanwhile. */
export const since = (start: number | undefined, at: number): number | undefined =>
  start === undefined ? undefined : Math.max(0, Math.round(at - start));

/** One user message per result; before it, who refused the call if nobody was asked. */
export function fromResult(event: DurableOf<"tool.finished">, memo: DialectMemo): DialectOutput {
  const outcome = outcomeOf(event);
  // The host has it now: the turn's result names it.
  if (outcome.kind === "deferred") return [[], memo];
  const use = memo.turn?.calls.get(event.callId);
  const name = use?.name ?? event.tool;
  const denied = outcome.kind === "denied" ? outcome.denial : undefined;
  const refusal = denied && nobodyAsked.has(denied.by) ? [deniedMessage(event, memo, { denied, name })] : [];
  const message = userMessage(memo, {
    label: "user",
    at: event.at,
    content: [
      {
        type: "tool_result",
        tool_use_id: event.callId,
        content: toResultContent(event.content),
        is_error: event.failed,
      },
    ],
    tool_use_result: resultData(event, outcome),
    ...decisionOf(event, memo),
  });
  const denial =
    denied && countedDenials.has(denied.by)
      ? [{ tool_name: name, tool_use_id: event.callId, tool_input: asObject(use?.input) }]
      : [];
  const [ended, rest] = fromForegroundEnd(event, memo);
  const next = inTurn(rest, (turn) => ({
    ...turn,
    userMessages: turn.userMessages + 1,
    leaves: new Map([...turn.leaves].filter(([id]) => id !== event.callId)),
    settled: use ? [...turn.settled, use] : turn.settled,
    calls: new Map([...turn.calls].filter(([id]) => id !== event.callId)),
    denials: [...turn.denials, ...denial],
    stoppedByTool: turn.stoppedByTool || event.stop !== undefined,
  }));
  return [[...refusal, ...ended, message, ...summaryOf(next)], next];
}

/** One line about the calls of a reply, for hosts that show no more of them. */
function summaryOf(memo: DialectMemo): SDKSentMessage[] {
  const { facts, turn } = memo;
  if (!facts.toolSummaries || !turn || turn.calls.size > 0 || turn.settled.length === 0) return [];
  const summary = shorten(turn.settled.map(sayCall).join("; "), maxSummaryCharacters);
  const preceding_tool_use_ids = turn.settled.map(({ id }) => id);
  return [{ type: "tool_use_summary", ...identity(memo, "summary"), summary, preceding_tool_use_ids }];
}

const maxSummaryCharacters = 300;

/** What a call is about, by the field of its input that says most. */
function sayCall({ name, input }: ToolUse): string {
  const fields = asObject(input);
  const about = telling.map((field) => fields[field]).find((value) => typeof value === "string");
  return typeof about === "string" ? `${name} ${shorten(oneLine(about), maxAboutCharacters)}` : name;
}

const maxAboutCharacters = 80;
const telling = [
  "description",
  "command",
  "file_path",
  "notebook_path",
  "pattern",
  "url",
  "query",
  "skill",
  "subject",
];

const nobodyAsked: ReadonlySet<Denial["by"]> = new Set(["rule", "mode", "no-host"]);
/** An interrupt or a shutdown refuses nothing: the call was simply not run. */
const countedDenials: ReadonlySet<Denial["by"]> = new Set([
  "rule",
  "mode",
  "no-host",
  "hook",
  "host",
  "timeout",
]);

function deniedMessage(
  event: DurableOf<"tool.finished">,
  memo: DialectMemo,
  { denied, name }: { denied: Denial; name: string },
): SDKPermissionDeniedMessage {
  return {
    type: "system",
    subtype: "permission_denied",
    ...identity(memo, "denied"),
    tool_name: name,
    tool_use_id: event.callId,
    message: denied.reason,
    decision_reason_type: denied.by,
    decision_reason: denied.reason,
  };
}

/** A failure is words; a structured answer stands in the result message; other tools give data, or their blocks. */
function resultData({ content }: DurableOf<"tool.finished">, outcome: Outcome): Json {
  switch (outcome.kind) {
    case "answered":
      return textOfParts(content);
    case "done":
      return outcome.data === undefined ? content.map(toInputBlock) : withPicture(outcome.data, content);
    case "failed":
    case "invalid":
    case "interrupted":
    case "denied":
    case "deferred":
      return `Error: ${textOfParts(content)}`;
    default:
      return never(outcome);
  }
}

/** Inputs leave the queue and become part of the turn. */
export function takeInputs(memo: DialectMemo, inputIds: readonly string[]): [Input[], DialectMemo] {
  const taken = inputIds.flatMap((id) => memo.inputs.get(id) ?? []);
  const inputs = new Map([...memo.inputs].filter(([id]) => !inputIds.includes(id)));
  return [taken, { ...memo, inputs }];
}

/** A hook's words are shown: they turn the model around. A person's words are known to whoever sent them. */
export function fromJoined(event: DurableOf<"input.joined">, memo: DialectMemo): DialectOutput {
  const [taken, rest] = takeInputs(memo, event.inputIds);
  const messages = taken.flatMap((input): SDKSentMessage[] => {
    if (input.from.kind !== "hook")
      return memo.facts.replayUserMessages ? [replayMessage(memo, { input, at: event.at })] : [];
    const content = input.content.map(toInputBlock);
    return [userMessage(memo, { label: `input/${input.id}`, at: event.at, content, isSynthetic: true })];
  });
  const added = taken.filter(({ from }) => from.kind === "hook").length;
  const next = inTurn(rest, (turn) => ({
    ...turn,
    inputs: [...turn.inputs, ...taken],
    userMessages: turn.userMessages + added,
  }));
  return [messages, next];
}
