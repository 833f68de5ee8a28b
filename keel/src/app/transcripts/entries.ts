/**
 * A session as the lines that programs of the official interface read by themselves: a chain of messages, each with the
 * id of the one before. Keel's own log stays the truth; this is a copy for others. Pure. The ids are those that the SDK's
 * dialect gives the same messages, so that a program finds again what it was told.
 */
import type { Json, JsonObject } from "../../kernel/json.ts";
import { isUuid, uuidFrom } from "../../kernel/uuid.ts";
import type { Durable, Input } from "../../protocol/event/durable.ts";
import { type EventHandlers, handle } from "../../protocol/event/envelope.ts";
import type { Block } from "../../protocol/message.ts";
import { outcomeOf } from "../../protocol/outcome.ts";
import type { Stop, TurnReason } from "../../protocol/reasons.ts";
import { noUsage } from "../../protocol/usage.ts";
import { inputBlock, stopReasons, textOfParts, usageOf, userWords, wireBlock } from "./wire-blocks.ts";

export type TranscriptEntry = { type: string; uuid?: string; sessionId: string } & JsonObject;

/** What no event tells. */
export type TranscriptFacts = {
  /** The session whose transcript it is; of an agent's, the one that the host opened. */
  readonly sessionId: string;
  readonly version: string;
  readonly entrypoint: string;
  readonly gitBranch: string;
  /** Of an agent's own transcript. */
  readonly agentId?: string | undefined;
};

/** What is remembered between two events; kept with the log, so that going on reads nothing again. */
export type TranscriptMemo = {
  readonly seq: number;
  /** The session whose events these are: an agent's has its own numbers. */
  readonly session: string;
  readonly cwd: string;
  readonly permissionMode: string;
  /** The newest message of the chain. */
  readonly leaf: string | null;
  readonly promptId: string | null;
  readonly inputs: ReadonlyMap<string, Input>;
  /** Calls that have no result yet, with the message that holds each. */
  readonly calls: ReadonlyMap<string, string>;
  /** The prompts of a copied session were somebody else's messages. */
  readonly copiedUpTo: number;
};

export const newTranscript: TranscriptMemo = {
  seq: 0,
  session: "",
  cwd: "",
  permissionMode: "default",
  leaf: null,
  promptId: null,
  inputs: new Map(),
  calls: new Map(),
  copiedUpTo: 0,
};

export type TranscriptStep = readonly [entries: readonly TranscriptEntry[], memo: TranscriptMemo];

/** An event that was seen before says nothing. */
export function toEntries(event: Durable, memo: TranscriptMemo, facts: TranscriptFacts): TranscriptStep {
  if (event.seq <= memo.seq) return [[], memo];
  const now = { ...memo, seq: event.seq, session: event.session };
  return handle(said, event, now, facts) ?? [[], now];
}

const said: EventHandlers<Durable, [TranscriptMemo, TranscriptFacts], TranscriptStep> = {
  "session.opened": ({ cwd, settings, forkedFrom }, memo) => [
    [],
    { ...memo, cwd, permissionMode: settings.permissionMode, copiedUpTo: forkedFrom?.seq ?? 0 },
  ],
  "settings.changed": ({ patch }, memo, { sessionId }) => [
    [
      ...(patch.title ? [{ type: "custom-title", customTitle: patch.title, sessionId }] : []),
      ...(patch.tag === undefined ? [] : [{ type: "tag", tag: patch.tag, sessionId }]),
    ],
    { ...memo, permissionMode: patch.permissionMode ?? memo.permissionMode },
  ],
  "folder.changed": ({ cwd }, memo) => [[], { ...memo, cwd }],
  "session.arrived": ({ cwd, undone }, memo) => [[], undone ? memo : { ...memo, cwd }],
  "input.accepted": ({ input }, memo) => [[], { ...memo, inputs: new Map(memo.inputs).set(input.id, input) }],
  "input.dropped": ({ inputId }, memo) => [[], without(memo, [inputId])],
  "turn.started": takeInputs,
  "input.joined": takeInputs,
  "context.added": ({ content, why, at }, memo, facts) =>
    shownAdditions.has(why)
      ? chained(memo, facts, [
          { at, label: "user", type: "user", message: userWords(content), more: { isMeta: true } },
        ])
      : [[], memo],
  "model.finished": fromReply,
  "tool.finished": fromResult,
  "context.compacted": ({ at, trigger, tokensBefore, tokensAfter, ms, summary }, memo, facts) =>
    chained({ ...memo, leaf: null }, facts, [
      {
        at,
        label: "boundary",
        type: "system",
        more: {
          subtype: "compact_boundary",
          content: "Conversation compacted",
          level: "info",
          isMeta: false,
          logicalParentUuid: memo.leaf,
          compactMetadata: {
            trigger: trigger === "manual" ? "manual" : "auto",
            preTokens: tokensBefore,
            postTokens: tokensAfter,
            durationMs: ms,
          },
        },
      },
      {
        at,
        label: "user",
        type: "user",
        message: { role: "user", content: summary },
        more: { isCompactSummary: true, isVisibleInTranscriptOnly: true },
      },
    ]),
  // What follows has nothing to do with what was.
  "context.cleared": (_, memo) => [[], { ...memo, leaf: null }],
  // The lines of what was left stay; the chain goes on from the message.
  "context.returned": ({ to, last }, memo) => [
    [],
    { ...memo, leaf: lastOf({ ...memo, seq: to }, last), calls: new Map() },
  ],
  "turn.finished": ({ at, reason, fault }, memo, facts) => {
    if (!apologies.has(reason) || !fault) return [[], memo];
    const id = idOf(memo, "apology");
    const content = [{ type: "text", text: fault.message }];
    const words = { id, type: "message", role: "assistant", model: "<synthetic>", content };
    const message = { ...words, stop_reason: "stop_sequence", stop_sequence: "", usage: usageOf(noUsage) };
    return chained(memo, facts, [
      { at, label: "apology", type: "assistant", message, more: { isApiErrorMessage: true } },
    ]);
  },
};

const shownAdditions: ReadonlySet<string> = new Set([
  "output_limit",
  "refusal",
  "empty_reply",
  "structured_output",
  "stuck",
]);

/** Ends of a turn that stand in the place of an answer. */
const apologies: ReadonlySet<TurnReason> = new Set([
  "empty_reply",
  "model_error",
  "prompt_too_long",
  "compaction_stuck",
  "output_limit",
]);

type ChainedMessage = {
  readonly at: number;
  /** Tells messages of one event apart. */
  readonly label: string;
  /** In place of an id made from the label. */
  readonly uuid?: string | undefined;
  readonly type: "user" | "assistant" | "system";
  readonly message?: Json;
  readonly more?: JsonObject;
};

const idOf = ({ session, seq }: TranscriptMemo, label: string): string =>
  uuidFrom(`${session}/${seq}/${label}`);

/** By the memo of the event that it came from. */
function lastOf(memo: TranscriptMemo, last: Extract<Durable, { type: "context.returned" }>["last"]): string {
  switch (last.kind) {
    case "input":
      return (last.hook ? undefined : idOfInput(last.id, memo)) ?? idOf(memo, `input/${last.id}`);
    case "reply":
      return idOf(memo, `block/${last.block}`);
    case "result":
    case "summary":
      return idOf(memo, "user");
  }
}

/** The one that whoever said it gave it; undefined where it has none. */
function idOfInput(id: string, { session, seq, copiedUpTo }: TranscriptMemo): string | undefined {
  if (!isUuid(id)) return undefined;
  return seq <= copiedUpTo ? uuidFrom(`${session}/copy/${id}`) : id;
}

function chained(
  memo: TranscriptMemo,
  facts: TranscriptFacts,
  messages: readonly ChainedMessage[],
): TranscriptStep {
  const { sessionId, version, entrypoint, gitBranch, agentId } = facts;
  let { leaf } = memo;
  const entries = messages.map(({ at, label, uuid = idOf(memo, label), type, message, more }) => {
    const entry: TranscriptEntry = {
      parentUuid: leaf,
      isSidechain: agentId !== undefined,
      ...(agentId === undefined ? {} : { agentId }),
      userType: "external",
      entrypoint,
      cwd: memo.cwd,
      sessionId,
      version,
      gitBranch,
      ...(type === "user" && memo.promptId !== null ? { promptId: memo.promptId } : {}),
      type,
      ...(message === undefined ? {} : { message }),
      ...more,
      uuid,
      timestamp: timeOf(at),
    };
    leaf = uuid;
    return entry;
  });
  return [entries, { ...memo, leaf }];
}

/** A clock that stood beyond all calendars is no reason to lose a line. */
const timeOf = (at: number): string => new Date(Math.abs(at) <= 8.64e15 ? at : 0).toISOString();

function takeInputs(
  event: Extract<Durable, { type: "turn.started" | "input.joined" }>,
  memo: TranscriptMemo,
  facts: TranscriptFacts,
): TranscriptStep {
  const taken = event.inputIds.flatMap((id) => memo.inputs.get(id) ?? []);
  const left = without(memo, event.inputIds);
  const [first] = taken;
  const now = first && event.type === "turn.started" ? { ...left, promptId: first.id } : left;
  const prompts = taken.map((input) => promptOf(input, { memo, facts, at: event.at }));
  return chained(now, facts, prompts);
}

function promptOf(
  input: Input,
  { memo, facts, at }: { memo: TranscriptMemo; facts: TranscriptFacts; at: number },
): ChainedMessage {
  const own = facts.agentId === undefined ? idOfInput(input.id, memo) : undefined;
  const isHook = input.from.kind === "hook";
  return {
    at,
    label: `${facts.agentId === undefined ? "input" : "prompt"}/${input.id}`,
    uuid: isHook ? undefined : own,
    type: "user",
    message: userWords(input.content),
    more: {
      permissionMode: memo.permissionMode,
      ...(isHook ? { isMeta: true } : {}),
      ...(input.from.kind === "task" ? { origin: { kind: "task-notification" } } : {}),
    },
  };
}

/** One line for each block, each with the usage of the whole reply: who adds up goes by message and request. */
function fromReply(
  event: Extract<Durable, { type: "model.finished" }>,
  memo: TranscriptMemo,
  facts: TranscriptFacts,
): TranscriptStep {
  const { at, model, requestId, stop } = event;
  const shown = event.content.flatMap((block, index) => {
    const content = isSaid(block, stop) ? wireBlock(block) : undefined;
    return content === undefined ? [] : [{ block, index, content }];
  });
  const messages = shown.map(({ index, content }): ChainedMessage => {
    const head = { id: event.providerId ?? event.messageId, type: "message", role: "assistant", model };
    const end = { stop_reason: stopReasons[stop], stop_sequence: null, usage: usageOf(event.usage) };
    return {
      at,
      label: `block/${index}`,
      type: "assistant",
      message: { ...head, content: [content], ...end },
      more: { requestId },
    };
  });
  const calls = shown.flatMap(({ block, index }): [string, string][] =>
    block.type === "tool_use" ? [[block.id, idOf(memo, `block/${index}`)]] : [],
  );
  return chained({ ...memo, calls: new Map(calls) }, facts, messages);
}

/** A blank text says nothing; half a call at the end of a reply that was cut off gets no result. */
const isSaid = (block: Block, stop: Stop): boolean =>
  block.type === "text"
    ? block.text.trim() !== ""
    : !(block.type === "tool_use" && block.broken !== undefined && stop === "output_limit");

function fromResult(
  event: Extract<Durable, { type: "tool.finished" }>,
  memo: TranscriptMemo,
  facts: TranscriptFacts,
): TranscriptStep {
  const outcome = outcomeOf(event);
  // The host has it now; or a program of the model had it.
  if (outcome.kind === "deferred" || event.within !== undefined) return [[], memo];
  const { at, callId, content, failed } = event;
  const [only] = content;
  const words = content.length === 1 && only?.type === "text" ? only.text : content.map(inputBlock);
  const result = { tool_use_id: callId, type: "tool_result", content: words, is_error: failed };
  const source = memo.calls.get(callId);
  const calls = new Map(memo.calls);
  calls.delete(callId);
  const data = outcome.kind === "done" ? (outcome.data ?? content.map(inputBlock)) : undefined;
  const told = data ?? `${outcome.kind === "answered" ? "" : "Error: "}${textOfParts(content)}`;
  return chained({ ...memo, calls }, facts, [
    {
      at,
      label: "user",
      type: "user",
      message: { role: "user", content: [result] },
      more: {
        toolUseResult: told,
        ...(source === undefined ? {} : { sourceToolAssistantUUID: source }),
        ...(outcome.kind === "denied" ? { toolDenialKind: outcome.denial.by } : {}),
      },
    },
  ]);
}

const without = (memo: TranscriptMemo, ids: readonly string[]): TranscriptMemo => ({
  ...memo,
  inputs: new Map([...memo.inputs].filter(([id]) => !ids.includes(id))),
});
