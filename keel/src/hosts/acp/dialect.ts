/**
 * From the events of a session to what an editor is told. Pure: the log alone gives the conversation as a whole, and with
 * live events among them nothing is told twice, since what was told piece by piece is not told again with its reply.
 */
import type { ContentBlock, PlanEntry, SessionUpdate } from "@agentclientprotocol/sdk";
import { type Envelope, type EventHandlers, handle } from "../../protocol/event/envelope.ts";
import type { Block, InputBlock, ToolUse } from "../../protocol/message.ts";
import { outcomeOf } from "../../protocol/outcome.ts";
import type { Todo } from "../../protocol/tool.ts";
import { contextTokens } from "../../protocol/usage.ts";
import { isShownBlock } from "../../view/shown.ts";
import { type Call, callFields, contentOf, endFields } from "./tool-calls.ts";

/** What does not change while a session is open. */
export type Told = {
  readonly cwd: string;
  /** What a model's window holds; undefined where nobody knows. */
  window(model: string): number | undefined;
  /** What the editor said that it shows. */
  readonly shows: { readonly notices: boolean; readonly compaction: boolean };
};

export type AcpMemo = {
  /** Blocks of which pieces were told, as `request:index`. */
  readonly pieces: ReadonlySet<string>;
  /** Calls that have no result yet. */
  readonly calls: ReadonlyMap<string, Call>;
  /** Inputs that the editor shows already: it sent them. */
  readonly own: ReadonlySet<string>;
  readonly costUsd: number;
};

export const noMemo: AcpMemo = { pieces: new Set(), calls: new Map(), own: new Set(), costUsd: 0 };

export const withOwn = (memo: AcpMemo, inputId: string): AcpMemo => ({
  ...memo,
  own: new Set([...memo.own, inputId]),
});

type Telling = readonly [readonly SessionUpdate[], AcpMemo];

/** What agents do is told by the call that started them. */
export function toUpdates(envelope: Envelope, memo: AcpMemo, told: Told): Telling {
  if (envelope.origin) return [[], memo];
  return handle(handlers, envelope, memo, told) ?? [[], memo];
}

const handlers: EventHandlers<Envelope, [memo: AcpMemo, told: Told], Telling> = {
  "input.accepted": ({ input }, memo) => {
    if (input.from.kind !== "person") return [[], memo];
    if (memo.own.has(input.id)) return [[], { ...memo, own: without(memo.own, input.id) }];
    const chunks = input.content.map(
      (block): SessionUpdate => ({
        sessionUpdate: "user_message_chunk",
        messageId: input.id,
        content: inputContent(block),
      }),
    );
    return [chunks, memo];
  },
  "text.delta": ({ requestId, index, text }, memo) => [
    [chunk("agent_message_chunk", requestId, text)],
    withPiece(memo, requestId, index),
  ],
  "thinking.delta": ({ requestId, index, text }, memo) => [
    text === "" ? [] : [chunk("agent_thought_chunk", requestId, text)],
    withPiece(memo, requestId, index),
  ],
  "reply.withdrawn": ({ requestId }, memo) => [[], withoutPieces(memo, requestId)],
  "model.failed": ({ requestId }, memo) => [[], withoutPieces(memo, requestId)],
  "model.finished": (event, memo, told) => {
    const { requestId, content, stop, model, usage, costUsd } = event;
    const untold = content.filter(
      (block, index) => isShownBlock(block, stop) && !memo.pieces.has(pieceKey(requestId, index)),
    );
    const calls = content.filter(
      (block): block is ToolUse => block.type === "tool_use" && isShownBlock(block, stop),
    );
    const cost = memo.costUsd + (costUsd ?? 0);
    const size = told.window(model);
    const used = contextTokens(usage);
    const next: AcpMemo = {
      ...withoutPieces(memo, requestId),
      calls: new Map([...memo.calls, ...calls.map((call): [string, Call] => [call.id, callOf(call)])]),
      costUsd: cost,
    };
    return [
      [
        ...untold.flatMap((block) => blockUpdates(block, requestId, told)),
        ...(size === undefined
          ? []
          : [
              {
                sessionUpdate: "usage_update" as const,
                used,
                size: Math.max(size, used),
                cost: { amount: cost, currency: "USD" },
              },
            ]),
      ],
      next,
    ];
  },
  "tool.started": ({ callId, tool, input }, memo, { cwd }) => {
    const call = input === undefined ? memo.calls.get(callId) : { tool, input };
    const changed = input !== undefined && call ? callFields(call, cwd) : {};
    return [
      [{ sessionUpdate: "tool_call_update", toolCallId: callId, status: "in_progress", ...changed }],
      call ? { ...memo, calls: new Map([...memo.calls, [callId, call]]) } : memo,
    ];
  },
  "tool.progress": ({ callId, display }, memo) => {
    const content = display ? contentOf(display) : [];
    return [
      content.length === 0
        ? []
        : [{ sessionUpdate: "tool_call_update", toolCallId: callId, status: "in_progress", content }],
      memo,
    ];
  },
  "tool.finished": (event, memo) => {
    const { callId, display, content, data, todos } = event;
    const isDone = ["done", "answered"].includes(outcomeOf(event).kind);
    const calls = new Map(memo.calls);
    calls.delete(callId);
    return [
      [
        {
          sessionUpdate: "tool_call_update",
          toolCallId: callId,
          status: isDone ? "completed" : "failed",
          ...endFields(display, content),
          ...(data === undefined ? {} : { rawOutput: data }),
        },
        ...(todos ? [{ sessionUpdate: "plan" as const, entries: todos.map(planEntry) }] : []),
      ],
      { ...memo, calls },
    ];
  },
  "command.answered": ({ name, text }, memo) => [[chunk("agent_message_chunk", name, text)], memo],
  "context.compacted": ({ requestId, summary }, memo, { shows }) => [
    shows.compaction
      ? [
          {
            sessionUpdate: "compaction_update",
            compactionId: requestId,
            status: "completed",
            summary: [{ type: "text", text: summary }],
          },
        ]
      : [],
    memo,
  ],
  "notice.raised": ({ level, text }, memo, { shows }) => [
    shows.notices ? [{ sessionUpdate: "notice", severity: level, title: text }] : [],
    memo,
  ],
  "retry.waiting": ({ attempt, mostAttempts, fault }, memo, { shows }) => [
    shows.notices
      ? [
          {
            sessionUpdate: "notice",
            severity: "info",
            title: `Trying again (${attempt} of ${mostAttempts})`,
            description: fault.message,
          },
        ]
      : [],
    memo,
  ],
  "settings.changed": ({ patch: { title } }, memo) => [
    title === undefined ? [] : [{ sessionUpdate: "session_info_update", title }],
    memo,
  ],
  // Calls that the turn left without a result were not run, or were cut off.
  "turn.finished": (_, memo) => [
    [...memo.calls.keys()].map((toolCallId) => ({
      sessionUpdate: "tool_call_update",
      toolCallId,
      status: "failed",
    })),
    { ...memo, calls: new Map() },
  ],
};

function blockUpdates(block: Block, requestId: string, { cwd }: Told): SessionUpdate[] {
  switch (block.type) {
    case "text":
      return [chunk("agent_message_chunk", requestId, block.text)];
    case "thinking":
      return block.text.trim() === "" ? [] : [chunk("agent_thought_chunk", requestId, block.text)];
    case "image":
      return [{ sessionUpdate: "agent_message_chunk", messageId: requestId, content: inputContent(block) }];
    case "tool_use":
      return [
        {
          sessionUpdate: "tool_call",
          toolCallId: block.id,
          status: "pending",
          ...callFields(callOf(block), cwd),
        },
      ];
    case "document":
    case "tool_result":
    case "foreign":
      return [];
  }
}

const callOf = ({ name, input }: ToolUse): Call => ({ tool: name, input });

const chunk = (
  sessionUpdate: "agent_message_chunk" | "agent_thought_chunk",
  messageId: string,
  text: string,
): SessionUpdate => ({ sessionUpdate, messageId, content: { type: "text", text } });

/** A document goes by its name: no editor shows its bytes. */
function inputContent(block: InputBlock): ContentBlock {
  if (block.type === "text") return { type: "text", text: block.text };
  if (block.type === "image") return { type: "image", mimeType: block.mediaType, data: block.data };
  return { type: "text", text: `[${block.name ?? "document"}]` };
}

const planEntry = ({ text, status }: Todo): PlanEntry => ({ content: text, status, priority: "medium" });

const pieceKey = (requestId: string, index: number): string => `${requestId}:${index}`;

function withPiece(memo: AcpMemo, requestId: string, index: number): AcpMemo {
  const key = pieceKey(requestId, index);
  return memo.pieces.has(key) ? memo : { ...memo, pieces: new Set([...memo.pieces, key]) };
}

function withoutPieces(memo: AcpMemo, requestId: string): AcpMemo {
  if (memo.pieces.size === 0) return memo;
  const kept = [...memo.pieces].filter((key) => !key.startsWith(`${requestId}:`));
  return { ...memo, pieces: new Set(kept) };
}

function without(all: ReadonlySet<string>, one: string): ReadonlySet<string> {
  const kept = new Set(all);
  kept.delete(one);
  return kept;
}
