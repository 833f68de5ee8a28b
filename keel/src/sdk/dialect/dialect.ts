/**
 * The SDK's dialect: events in, messages out. Pure: the same log gives the same messages with the same ids, whether it
 * is read while it is written or years later.
 *
 * Assistant messages come when their reply is on record, never from a stream that may still fail. A reply that is
 * withdrawn and asked for again therefore leaves no half message behind, a call is never shown that no result follows,
 * and folding a stored log gives the same assistant, user and result messages as the live session gave. Whoever wants
 * text as it is written asks for partial messages (`stream.ts`).
 */
import { asObject } from "../../kernel/json.ts";
import { never } from "../../kernel/result.ts";
import type { UUID } from "../../kernel/uuid.ts";
import { foldBill } from "../../protocol/bill.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import { type Envelope, isDurable } from "../../protocol/event/envelope.ts";
import { isReplyEvent, type Live } from "../../protocol/event/live.ts";
import { noBill } from "../../protocol/usage.ts";
import { isoTime } from "../../view/say.ts";
import { isShownAddition } from "../../view/shown.ts";
import type { SDKSentMessage } from "../messages/messages.ts";
import { fromAgent } from "./agents.ts";
import { textBlock, toInputBlock } from "./blocks.ts";
import { fromStart } from "./decided.ts";
import { fromProgress } from "./foreground.ts";
import { type DialectMemo, type DialectOutput, type DurableOf, newTurn } from "./memo.ts";
import { answered, errorClass, failure, resultOfTurn, resultWithoutTurn, statusOf } from "./result.ts";
import {
  assistantMessage,
  identity,
  informationalMessage,
  initMessage,
  liveIdentity,
  modelMessage,
  replayMessage,
  statusMessage,
  synthetic,
  userMessage,
} from "./say.ts";
import { fromStream, openStream } from "./stream.ts";
import { fromTask } from "./tasks.ts";
import { fromJoined, fromReply, fromResult, inTurn, since, takeInputs } from "./turn.ts";

/** What an event says to a program, and what to remember of it. An event that was seen before says nothing. */
export function toMessages(envelope: Envelope, memo: DialectMemo): DialectOutput {
  const { origin } = envelope;
  if (origin) return fromAgent({ ...envelope, origin }, memo, toMessages);
  if (!isDurable(envelope)) return fromLive(envelope, memo);
  if (envelope.seq <= memo.seq) return [[], memo];
  const { costUsd, models } = foldBill({ ...noBill, ...memo }, envelope);
  return fromDurable(envelope, { ...memo, costUsd, models, seq: envelope.seq, livesSince: 0 });
}

function fromDurable(event: Durable, memo: DialectMemo): DialectOutput {
  switch (event.type) {
    case "session.opened":
      return [[], settle(memo, event.settings)];
    case "settings.changed":
      return fromSettings(event, memo);
    case "input.accepted":
      return [[], { ...memo, inputs: new Map(memo.inputs).set(event.input.id, event.input) }];
    case "input.dropped":
      return fromDropped(event, memo);
    case "input.joined":
      return fromJoined(event, memo);
    case "turn.started":
      return fromTurnStart(event, memo);
    case "context.added":
      return fromAddition(event, memo);
    case "model.started":
      return fromRequest(event, memo);
    case "model.finished":
      return fromReply(event, memo);
    case "model.failed":
      return fromFailure(event, memo);
    // The calls of a program are none of the model's.
    case "tool.started":
      return event.within === undefined ? fromStart(event, memo) : [[], memo];
    case "tool.finished":
      return event.within === undefined ? fromResult(event, memo) : [[], memo];
    case "context.compacted":
      return fromCompaction(event, memo);
    case "context.cleared": {
      const { sessionId } = memo.facts;
      const id = identity(memo, "reset");
      return [[{ type: "conversation_reset", ...id, new_conversation_id: sessionId as UUID }], memo];
    }
    case "task.changed":
      return fromTask(event, memo);
    case "files.saved":
      return [filesPersisted(event, memo), memo];
    case "turn.finished":
      return resultOfTurn(event, memo);
    case "prompt.fixed":
    case "turn.interrupted":
    case "model.consulted":
    case "ask.opened":
    case "ask.closed":
    case "compaction.requested":
    case "context.inherited":
    case "context.returned":
    case "folder.changed":
    case "session.moved":
    case "session.arrived":
    case "files.rewound":
    case "memory.forgotten":
    case "team.changed":
    case "goal.tried":
    case "session.closed":
      return [[], memo];
    default:
      return never(event);
  }
}

function fromLive(event: Live, memo: DialectMemo): DialectOutput {
  if (isReplyEvent(event)) return fromStream(event, memo);
  switch (event.type) {
    case "tool.progress":
      return fromProgress(event, memo);
    case "retry.waiting": {
      const [id, next] = liveIdentity(memo, event);
      const status = statusOf(event.fault);
      const retry: SDKSentMessage = {
        type: "system",
        subtype: "api_retry",
        ...id,
        attempt: event.attempt,
        max_retries: event.mostAttempts,
        retry_delay_ms: event.delayMs,
        error_status: status,
        error: errorClass(event.fault),
        ...silence(event),
      };
      return [[retry], next];
    }
    case "command.answered":
      return fromCommand(event, memo);
    case "hook.started":
    case "hook.progress":
    case "hook.finished":
      return fromHook(event, memo);
    case "notice.raised": {
      const [id, next] = liveIdentity(memo, event);
      const { text: content, code } = event;
      const tag = code === undefined || code === "hook" ? {} : { tag: tags.get(code) ?? code };
      // What a hook says to the person is more than a word in passing.
      const level = code === "hook" ? "notice" : event.level;
      return [[informationalMessage(id, { content, level, ...tag })], next];
    }
    default:
      return never(event);
  }
}

/** Our codes by the interface's names for them. */
const tags: ReadonlyMap<string, string> = new Map([["hook_failed", "hook_callback_failed"]]);

/** How long nothing came, where that is why it is tried again. */
function silence({ fault, delayMs }: Extract<Live, { type: "retry.waiting" }>) {
  const seconds = fault.code === "stream_stalled" ? Number(asObject(fault.detail)["seconds"]) : Number.NaN;
  return seconds > 0 ? { no_response: { waited_ms: seconds * 1000, retry_wait_ms: delayMs } } : {};
}

/**
 * A command that needed no model: an answer in the place of one, and a result without a turn. Where a turn runs, its
 * result is still to come: then the words are only told.
 */
function fromCommand(
  { name, text, at }: Extract<Live, { type: "command.answered" }>,
  memo: DialectMemo,
): DialectOutput {
  const [id, next] = liveIdentity(memo, { at });
  if (memo.turn) return [[{ type: "system", subtype: "local_command_output", ...id, content: text }], next];
  const label = `command/${memo.livesSince}/${at}`;
  const content = [textBlock(text)];
  const reply = modelMessage({ ...synthetic, id: id.uuid, content, stop_reason: "end_turn" });
  const [result, after] = resultWithoutTurn(next, answered(text), { command: name });
  // The newest fact may be a turn's end, whose result has the usual name already.
  const told = { ...result, ...identity(memo, `result/${label}`) };
  return [[initMessage(memo, `init/${label}`), assistantMessage(reply, { id, at }), told], after];
}

/** Only for whoever asked for it. */
function fromHook(
  event: Extract<Live, { type: "hook.started" | "hook.progress" | "hook.finished" }>,
  memo: DialectMemo,
): DialectOutput {
  if (!memo.facts.hookEvents) return [[], memo];
  const [id, next] = liveIdentity(memo, event);
  const hook = { hook_id: event.hookId, hook_name: event.name, hook_event: event.event };
  if (event.type === "hook.started")
    return [[{ type: "system", subtype: "hook_started", ...id, ...hook }], next];
  const { stdout, stderr } = event;
  const said = { ...hook, output: stdout || stderr, stdout, stderr };
  if (event.type === "hook.progress")
    return [[{ type: "system", subtype: "hook_progress", ...id, ...said }], next];
  const { exitCode, outcome } = event;
  const message: SDKSentMessage = {
    type: "system",
    subtype: "hook_response",
    ...id,
    ...said,
    ...(exitCode === undefined ? {} : { exit_code: exitCode }),
    outcome,
  };
  return [[message], next];
}

/** Files whose content is kept from now on, under the id that it is found by. */
function filesPersisted(
  { files, lost = [], at }: DurableOf<"files.saved">,
  memo: DialectMemo,
): SDKSentMessage[] {
  const kept = files.flatMap(({ path, blob }) => (blob === null ? [] : [{ filename: path, file_id: blob }]));
  if (kept.length + lost.length === 0) return [];
  return [
    {
      type: "system",
      subtype: "files_persisted",
      ...identity(memo, "persisted"),
      files: kept,
      failed: lost.map((filename) => ({ filename, error: "Its content could not be kept." })),
      processed_at: isoTime(at) ?? "",
    },
  ];
}

type Patch = DurableOf<"settings.changed">["patch"];

/** The next `init` shows model and mode as the events left them. */
function settle(memo: DialectMemo, { model, permissionMode }: Patch): DialectMemo {
  const { facts } = memo;
  return {
    ...memo,
    facts: {
      ...facts,
      model: model ?? facts.model,
      permissionMode: permissionMode ?? facts.permissionMode,
    },
  };
}

function fromSettings(event: DurableOf<"settings.changed">, memo: DialectMemo): DialectOutput {
  const { model, permissionMode, title } = event.patch;
  if (event.why === "fallback") {
    const original = memo.facts.model;
    const fallback = model ?? original;
    const content = `${original} could not answer; ${fallback} takes over for this turn.`;
    const message: SDKSentMessage = {
      type: "system",
      subtype: "model_fallback",
      ...identity(memo, "fallback"),
      trigger: "error",
      original_model: original,
      fallback_model: fallback,
      content,
    };
    return [[message], memo];
  }
  const messages: SDKSentMessage[] = [];
  if (permissionMode) messages.push(statusMessage(memo, { status: null, permissionMode }));
  if (title !== undefined)
    messages.push({ type: "system", subtype: "session_title_changed", ...identity(memo, "title"), title });
  return [messages, settle(memo, event.patch)];
}

function fromTurnStart(event: DurableOf<"turn.started">, memo: DialectMemo): DialectOutput {
  const [taken, rest] = takeInputs(memo, event.inputIds);
  const echoes = memo.facts.replayUserMessages
    ? taken.map((input) => replayMessage(memo, { input, at: event.at }))
    : [];
  return [[initMessage(memo), ...echoes], { ...rest, turn: newTurn(taken, event.at), progress: new Map() }];
}

/** A prompt that a hook blocked, or that was cancelled before its turn, is answered, although no turn came of it. */
function fromDropped(event: DurableOf<"input.dropped">, memo: DialectMemo): DialectOutput {
  const [taken, rest] = takeInputs(memo, [event.inputId]);
  // Whoever asked for no answer waits for none.
  if (taken.some(({ when }) => when === "with-next")) return [[], rest];
  if (event.why === "cancelled") return fromCancelled(taken, { memo, rest });
  if (event.why !== "blocked") return [[], rest];
  const content = event.reason ?? "A hook blocked the prompt.";
  const note = informationalMessage(identity(memo, "blocked"), {
    content,
    level: "warning",
    prevent_continuation: true,
  });
  if (memo.turn) return [[note], rest];
  const [result, next] = resultWithoutTurn(rest, answered(content, "hook_stopped"));
  return [[initMessage(memo), note, result], next];
}

/** The running turn answers for what was queued behind it; where none runs, whoever waits must hear of the end. */
function fromCancelled(
  [input]: ReturnType<typeof takeInputs>[0],
  { memo, rest }: { memo: DialectMemo; rest: DialectMemo },
): DialectOutput {
  if (memo.turn || input?.from.kind !== "person") return [[], rest];
  const ending = failure("The message was cancelled before its turn began.", "aborted_streaming");
  const [result, next] = resultWithoutTurn(rest, ending);
  return [[initMessage(memo), result], next];
}

function fromAddition(event: DurableOf<"context.added">, memo: DialectMemo): DialectOutput {
  if (!isShownAddition(event.why)) return [[], memo];
  const content = event.content.map(toInputBlock);
  const message = userMessage(memo, { label: "user", at: event.at, content, isSynthetic: true });
  return [[message], inTurn(memo, (turn) => ({ ...turn, userMessages: turn.userMessages + 1 }))];
}

function fromRequest(event: DurableOf<"model.started">, memo: DialectMemo): DialectOutput {
  if (event.purpose === "compaction") return [[statusMessage(memo, { status: "compacting" })], memo];
  const asking = inTurn(memo, (turn) => ({
    ...turn,
    phase: "streaming",
    askedAt: event.at,
    requestMs: turn.requestMs ?? since(turn.startedAt, event.at),
  }));
  if (!memo.facts.partialMessages) return [[], asking];
  return [[statusMessage(memo, { status: "requesting" })], openStream(asking, event)];
}

/** Whether a failed request is tried again is told by `retry.waiting`; its end by the turn's. */
function fromFailure(event: DurableOf<"model.failed">, memo: DialectMemo): DialectOutput {
  if (event.purpose === "turn") return [[], memo];
  const words = event.fault.message;
  const status = statusMessage(memo, { status: null, compact_result: "failed", compact_error: words });
  if (memo.turn) return [[status], memo];
  const ending = failure(words, "api_error");
  const [result, next] = resultWithoutTurn(memo, ending, { ms: event.ms, command: "compact" });
  return [[status, initMessage(memo), result], next];
}

function fromCompaction(event: DurableOf<"context.compacted">, memo: DialectMemo): DialectOutput {
  const status = statusMessage(memo, { status: null, compact_result: "success" });
  const boundary: SDKSentMessage = {
    type: "system",
    subtype: "compact_boundary",
    ...identity(memo, "boundary"),
    compact_metadata: {
      trigger: event.trigger === "manual" ? "manual" : "auto",
      pre_tokens: event.tokensBefore,
      post_tokens: event.tokensAfter,
      duration_ms: event.ms,
    },
  };
  const content = [{ type: "text" as const, text: event.summary }];
  const summary = userMessage(memo, { label: "user", at: event.at, content, isSynthetic: true });
  if (memo.turn)
    return [
      [status, boundary, summary],
      inTurn(memo, (turn) => ({ ...turn, userMessages: turn.userMessages + 1 })),
    ];
  const { usage, ms } = event;
  const [result, next] = resultWithoutTurn(memo, answered(""), { usage, ms, command: "compact" });
  return [[status, initMessage(memo), boundary, summary, result], next];
}
