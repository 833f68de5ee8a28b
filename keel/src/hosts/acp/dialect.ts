/**
 * From the events of a session to what an editor is told, whichever version it speaks. Pure: the log alone gives the
 * conversation as a whole, and with live events among them nothing is told twice, since what was told piece by piece is
 * not told again with its reply.
 */
import type { ContentBlock } from "@agentclientprotocol/sdk";
import type { Json } from "../../kernel/json.ts";
import { type Envelope, type EventHandlers, handle } from "../../protocol/event/envelope.ts";
import type { Block, InputBlock, ResultPart, ToolUse } from "../../protocol/message.ts";
import { outcomeOf } from "../../protocol/outcome.ts";
import type { Display, Todo } from "../../protocol/tool.ts";
import { contextTokens } from "../../protocol/usage.ts";
import { isShownBlock } from "../../view/shown.ts";
import { type Call, type CallFields, callFields } from "./tool-calls.ts";

export type Speaker = "user" | "agent" | "thought";

/** What is to be told, before a version has its words for it. */
export type Telling =
  /** `whole`: all that the message has; `more`: what follows on what was told of it. */
  | {
      readonly kind: "message";
      readonly by: Speaker;
      readonly messageId: string;
      readonly content: readonly ContentBlock[];
      readonly part: "whole" | "more";
    }
  /** What was told of a message does not count. */
  | { readonly kind: "withdrawn"; readonly by: Speaker; readonly messageId: string }
  | { readonly kind: "call"; readonly callId: string; readonly fields: CallFields }
  /** `fields` where they are others than those of the call. */
  | { readonly kind: "call-started"; readonly callId: string; readonly fields?: CallFields | undefined }
  /** It goes on, and may have something to show. */
  | { readonly kind: "call-goes-on"; readonly callId: string; readonly display?: Display | undefined }
  | {
      readonly kind: "call-ended";
      readonly callId: string;
      readonly status: "completed" | "failed";
      readonly display: Display;
      readonly result: readonly ResultPart[];
      readonly data?: Json | undefined;
    }
  /** It has no result, and will have none. */
  | { readonly kind: "call-cut"; readonly callId: string }
  | { readonly kind: "plan"; readonly todos: readonly Todo[] }
  | { readonly kind: "usage"; readonly used: number; readonly size: number; readonly costUsd: number }
  | { readonly kind: "compacted"; readonly id: string; readonly summary: string }
  | {
      readonly kind: "notice";
      readonly severity: "info" | "warning" | "error";
      readonly title: string;
      readonly description?: string | undefined;
      /** Somebody waits meanwhile: an editor without notices is told it in another way. */
      readonly isAwaited?: boolean | undefined;
    }
  /** It is at work, and has had nothing to say for a while. */
  | { readonly kind: "pulse"; readonly at: number }
  | { readonly kind: "title"; readonly title: string };

/** What does not change while a session is open. */
export type Told = {
  readonly cwd: string;
  /** What a model's window holds; undefined where nobody knows. */
  window(model: string): number | undefined;
};

export type AcpMemo = {
  /** Blocks of which pieces were told, as `request:index`. */
  readonly pieces: ReadonlyMap<string, Speaker>;
  /** Calls that have no result yet. */
  readonly calls: ReadonlyMap<string, Call>;
  /** Inputs that the editor shows already: it sent them. */
  readonly own: ReadonlySet<string>;
  readonly costUsd: number;
  /** How many commands have answered without a model. */
  readonly answers: number;
};

export const noMemo: AcpMemo = {
  pieces: new Map(),
  calls: new Map(),
  own: new Set(),
  costUsd: 0,
  answers: 0,
};

export const withOwn = (memo: AcpMemo, inputId: string): AcpMemo => ({
  ...memo,
  own: new Set([...memo.own, inputId]),
});

type Tellings = readonly [readonly Telling[], AcpMemo];

/** What agents do is told by the call that started them. */
export function tellingsOf(envelope: Envelope, memo: AcpMemo, told: Told): Tellings {
  if (envelope.origin) return [[], memo];
  return handle(handlers, envelope, memo, told) ?? [[], memo];
}

/** A thought is a message of its own beside what is said. */
const messageIdOf = (requestId: string, by: Speaker): string =>
  by === "thought" ? `${requestId}:thought` : requestId;

const handlers: EventHandlers<Envelope, [memo: AcpMemo, told: Told], Tellings> = {
  "input.accepted": ({ input }, memo) => {
    if (input.from.kind !== "person") return [[], memo];
    if (memo.own.has(input.id)) return [[], { ...memo, own: without(memo.own, input.id) }];
    return [[userMessage(input.id, input.content)], memo];
  },
  "text.delta": ({ requestId, index, text }, memo) => piece(memo, { requestId, index, text, by: "agent" }),
  "thinking.delta": ({ requestId, index, text }, memo) =>
    piece(memo, { requestId, index, text, by: "thought" }),
  "reply.withdrawn": ({ requestId }, memo) => withdrawn(memo, requestId),
  "model.failed": ({ requestId }, memo) => withdrawn(memo, requestId),
  "model.finished": ({ requestId, content, stop, model, usage, costUsd }, memo, told) => {
    const shown = content.filter((block) => isShownBlock(block, stop));
    const untold = shown.filter((block) => !memo.pieces.has(pieceKey(requestId, content.indexOf(block))));
    const calls = shown.filter((block): block is ToolUse => block.type === "tool_use");
    const cost = memo.costUsd + (costUsd ?? 0);
    const size = told.window(model);
    const used = contextTokens(usage);
    return [
      [
        ...said("thought", requestId, untold, memo),
        ...said("agent", requestId, untold, memo),
        ...calls.map(
          (call): Telling => ({
            kind: "call",
            callId: call.id,
            fields: callFields(callOf(call), told.cwd),
          }),
        ),
        ...(size === undefined
          ? []
          : [{ kind: "usage" as const, used, size: Math.max(size, used), costUsd: cost }]),
      ],
      {
        ...memo,
        pieces: withoutPieces(memo, requestId),
        calls: new Map([...memo.calls, ...calls.map((call): [string, Call] => [call.id, callOf(call)])]),
        costUsd: cost,
      },
    ];
  },
  "tool.started": ({ callId, tool, input, within }, memo, { cwd }) => {
    // An editor hears of a program, and not of its calls.
    if (within !== undefined) return [[], memo];
    const call = input === undefined ? memo.calls.get(callId) : { tool, input };
    return [
      [
        {
          kind: "call-started",
          callId,
          fields: input !== undefined && call ? callFields(call, cwd) : undefined,
        },
      ],
      call ? { ...memo, calls: new Map([...memo.calls, [callId, call]]) } : memo,
    ];
  },
  "tool.progress": ({ callId, display }, memo) => [[{ kind: "call-goes-on", callId, display }], memo],
  "tool.finished": (event, memo) => {
    const { callId, display, content, data, todos, within } = event;
    if (within !== undefined) return [[], memo];
    const isDone = ["done", "answered"].includes(outcomeOf(event).kind);
    const calls = new Map(memo.calls);
    calls.delete(callId);
    return [
      [
        {
          kind: "call-ended",
          callId,
          status: isDone ? "completed" : "failed",
          display,
          result: content,
          ...(data === undefined ? {} : { data }),
        },
        ...(todos ? [{ kind: "plan" as const, todos }] : []),
      ],
      { ...memo, calls },
    ];
  },
  "command.answered": ({ name, text }, memo) => [
    [
      {
        kind: "message",
        by: "agent",
        messageId: `${name}-${memo.answers + 1}`,
        content: [{ type: "text", text }],
        part: "whole",
      },
    ],
    { ...memo, answers: memo.answers + 1 },
  ],
  "context.compacted": ({ requestId, summary }, memo) => [
    [{ kind: "compacted", id: requestId, summary }],
    memo,
  ],
  "notice.raised": ({ level, text }, memo) => [[{ kind: "notice", severity: level, title: text }], memo],
  "retry.waiting": ({ attempt, mostAttempts, fault }, memo) => [
    [
      {
        kind: "notice",
        severity: "info",
        title: `Trying again (${attempt} of ${mostAttempts})`,
        description: fault.message,
        isAwaited: true,
      },
    ],
    memo,
  ],
  "settings.changed": ({ patch: { title } }, memo) => [
    title === undefined ? [] : [{ kind: "title", title }],
    memo,
  ],
  // Calls that the turn left without a result were not run, or were cut off.
  "turn.finished": (_, memo) => [cutCalls(memo), { ...memo, calls: new Map() }],
};

export const cutCalls = ({ calls }: AcpMemo): Telling[] =>
  [...calls.keys()].map((callId) => ({ kind: "call-cut", callId }));

export const userMessage = (messageId: string, content: readonly InputBlock[]): Telling => ({
  kind: "message",
  by: "user",
  messageId,
  content: content.map(inputContent),
  part: "whole",
});

/** What one speaker says in the blocks of a reply; it follows on what was told of it. */
function said(
  by: "agent" | "thought",
  requestId: string,
  blocks: readonly Block[],
  { pieces }: AcpMemo,
): Telling[] {
  const content = blocks.flatMap((block) => (by === "thought" ? thoughtOf(block) : wordsOf(block)));
  if (content.length === 0) return [];
  const isBegun = [...pieces].some(([key, speaker]) => speaker === by && isOf(key, requestId));
  const part = isBegun ? "more" : "whole";
  return [{ kind: "message", by, messageId: messageIdOf(requestId, by), content, part }];
}

const thoughtOf = (block: Block): ContentBlock[] =>
  block.type === "thinking" && block.text.trim() !== "" ? [{ type: "text", text: block.text }] : [];

const wordsOf = (block: Block): ContentBlock[] =>
  block.type === "text" || block.type === "image" ? [inputContent(block)] : [];

const callOf = ({ name, input }: ToolUse): Call => ({ tool: name, input });

/** A document goes by its name: no editor shows its bytes. */
function inputContent(block: InputBlock): ContentBlock {
  if (block.type === "text") return { type: "text", text: block.text };
  if (block.type === "image") return { type: "image", mimeType: block.mediaType, data: block.data };
  return { type: "text", text: `[${block.name ?? "document"}]` };
}

const pieceKey = (requestId: string, index: number): string => `${requestId}:${index}`;
const isOf = (key: string, requestId: string): boolean => key.startsWith(`${requestId}:`);

function piece(
  memo: AcpMemo,
  { requestId, index, text, by }: { requestId: string; index: number; text: string; by: "agent" | "thought" },
): Tellings {
  const key = pieceKey(requestId, index);
  const next = memo.pieces.has(key) ? memo : { ...memo, pieces: new Map([...memo.pieces, [key, by]]) };
  if (text === "") return [[], next];
  const messageId = messageIdOf(requestId, by);
  return [[{ kind: "message", by, messageId, content: [{ type: "text", text }], part: "more" }], next];
}

function withdrawn(memo: AcpMemo, requestId: string): Tellings {
  const speakers = new Set(
    [...memo.pieces].filter(([key]) => isOf(key, requestId)).map(([, speaker]) => speaker),
  );
  return [
    [...speakers].map((by) => ({ kind: "withdrawn", by, messageId: messageIdOf(requestId, by) })),
    { ...memo, pieces: withoutPieces(memo, requestId) },
  ];
}

const withoutPieces = ({ pieces }: AcpMemo, requestId: string): ReadonlyMap<string, Speaker> =>
  pieces.size === 0 ? pieces : new Map([...pieces].filter(([key]) => !isOf(key, requestId)));

function without(all: ReadonlySet<string>, one: string): ReadonlySet<string> {
  const kept = new Set(all);
  kept.delete(one);
  return kept;
}
