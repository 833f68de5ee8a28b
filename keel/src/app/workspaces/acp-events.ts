/**
 * What an agent of the Agent Client Protocol says, as events of ours: so screens show it as they show our own. A reply is
 * what it says until it uses a tool or is through; of a tool only the outside is known. Pure.
 */
import { asList, asObject, asText, isJson, type Json } from "../../kernel/json.ts";
import type { DurableEvent } from "../../protocol/event/durable.ts";
import type { LiveEvent } from "../../protocol/event/live.ts";
import { type Block, type ResultPart, text } from "../../protocol/message.ts";
import type { Display, Todo } from "../../protocol/tool.ts";
import { noUsage } from "../../protocol/usage.ts";
import { hunksOf } from "../../tools/hunks.ts";

export type ForeignEvent = DurableEvent | LiveEvent;

const liveTypes: ReadonlySet<string> = new Set<LiveEvent["type"]>([
  "reply.started",
  "block.started",
  "text.delta",
  "thinking.delta",
  "tool.progress",
  "notice.raised",
]);
/** Shown, and not kept. */
export const isPiece = (event: ForeignEvent): event is LiveEvent => liveTypes.has(event.type);

/** A call that has not ended. */
type ForeignCall = {
  readonly tool: string;
  readonly input: Json;
  readonly since: number;
  readonly isStarted: boolean;
  readonly display: Display;
  readonly result: readonly ResultPart[];
};

export type ForeignMemo = {
  /** The reply that is being written. */
  readonly reply:
    | { readonly requestId: string; readonly since: number; readonly blocks: readonly Block[] }
    | undefined;
  readonly calls: ReadonlyMap<string, ForeignCall>;
  readonly replies: number;
  readonly plans: number;
  readonly model: string;
  readonly costUsd: number;
};

export const noForeignMemo: ForeignMemo = {
  reply: undefined,
  calls: new Map(),
  replies: 0,
  plans: 0,
  model: "",
  costUsd: 0,
};

/** What is looked up elsewhere: terminals are ours. */
export type ForeignFacts = {
  readonly now: number;
  /** Makes ids of one turn others than those of every other. */
  readonly turnId: string;
  terminal(id: string): Display | undefined;
};

type Heard = readonly [readonly ForeignEvent[], ForeignMemo];

/** Of what nobody reads nothing is told. */
export function hearUpdate(given: unknown, memo: ForeignMemo, facts: ForeignFacts): Heard {
  const update = asObject(given);
  switch (update["sessionUpdate"]) {
    case "agent_message_chunk":
      return piece("text", update, memo, facts);
    case "agent_thought_chunk":
      return piece("thinking", update, memo, facts);
    case "tool_call":
    case "tool_call_update":
      return hearCall(update, memo, facts);
    case "plan":
      return hearPlan(update, memo, facts);
    case "usage_update": {
      const { amount } = asObject(update["cost"]);
      return [[], typeof amount === "number" ? { ...memo, costUsd: amount } : memo];
    }
    case "config_option_update":
      return [[], withModel(memo, update["configOptions"])];
    default:
      return [[], memo];
  }
}

/** What its options say of the model. */
export function withModel(memo: ForeignMemo, configOptions: unknown): ForeignMemo {
  const chosen = asList(configOptions)
    .map(asObject)
    .find(({ category }) => category === "model");
  const model = asText(chosen?.["currentValue"]);
  return model === "" ? memo : { ...memo, model };
}

/** The turn is over: what is open is closed. `isCut`: it was stopped. */
export function endForeignTurn(memo: ForeignMemo, { now }: Pick<ForeignFacts, "now">, isCut: boolean): Heard {
  const [said, next] = endReply(memo, now);
  const ended = [...next.calls].flatMap(([callId, call]) =>
    finished(callId, call, { now, failed: true, interrupted: isCut }),
  );
  return [[...said, ...ended], { ...next, calls: new Map(), replies: 0, plans: 0 }];
}

function piece(
  kind: "text" | "thinking",
  { content }: Record<string, unknown>,
  memo: ForeignMemo,
  { now, turnId }: ForeignFacts,
): Heard {
  const words = wordsIn(content);
  if (words === "") return [[], memo];
  const begun = memo.reply ?? { requestId: `${turnId}-${memo.replies + 1}`, since: now, blocks: [] };
  const { requestId, blocks } = begun;
  const last = blocks.at(-1);
  const goesOn = last?.type === kind;
  const index = goesOn ? blocks.length - 1 : blocks.length;
  const empty: Block = { type: kind, text: "" };
  const next: Block = { type: kind, text: `${goesOn ? last.text : ""}${words}` };
  return [
    [
      ...(memo.reply ? [] : [{ type: "reply.started" as const, requestId, model: memo.model }]),
      ...(goesOn ? [] : [{ type: "block.started" as const, requestId, index, block: empty }]),
      { type: kind === "text" ? "text.delta" : "thinking.delta", requestId, index, text: words },
    ],
    {
      ...memo,
      replies: memo.reply ? memo.replies : memo.replies + 1,
      reply: { ...begun, blocks: [...blocks.slice(0, index), next] },
    },
  ];
}

/** A picture or a resource goes by its name. */
function wordsIn(content: unknown): string {
  const { type, text: words, uri, name, resource } = asObject(content);
  if (type === "text") return asText(words);
  if (type === "resource")
    return asText(asObject(resource)["text"]) || `[${asText(asObject(resource)["uri"])}]`;
  return type === "resource_link"
    ? `[${asText(name) || asText(uri)}]`
    : typeof type === "string"
      ? `[${type}]`
      : "";
}

function endReply(memo: ForeignMemo, now: number, uses: readonly Block[] = []): Heard {
  const { reply, model } = memo;
  const content = [...(reply?.blocks ?? []), ...uses];
  if (content.length === 0) return [[], memo];
  const requestId = reply?.requestId ?? `${asText(asObject(uses[0])["id"])}-reply`;
  return [
    [
      {
        type: "model.finished",
        requestId,
        messageId: requestId,
        model,
        content,
        stop: uses.length > 0 ? "tool_use" : "end",
        usage: noUsage,
        costUsd: 0,
        ms: reply ? Math.max(0, now - reply.since) : 0,
      },
    ],
    { ...memo, reply: undefined },
  ];
}

const nothingShown: Display = { kind: "text", text: "" };

function hearCall(update: Record<string, unknown>, memo: ForeignMemo, facts: ForeignFacts): Heard {
  const callId = asText(update["toolCallId"]);
  if (callId === "") return [[], memo];
  const known = memo.calls.get(callId);
  const [begun, withReply] = known ? [[], memo] : beginCall(callId, update, memo, facts);
  const before = known ?? withReply.calls.get(callId);
  if (!before) return [begun, withReply];
  const call = changedCall(before, update, facts);
  const { status } = update;
  const isOver = status === "completed" || status === "failed";
  const starts = !before.isStarted && (isOver || status === "in_progress" || update["content"] != null);
  const started: ForeignEvent[] = starts
    ? [
        {
          type: "tool.started",
          callId,
          tool: call.tool,
          by: "host",
          ...(known && call.input !== known.input ? { input: call.input } : {}),
        },
      ]
    : [];
  const now: ForeignCall = starts ? { ...call, isStarted: true } : call;
  const calls = new Map(withReply.calls);
  if (isOver) {
    calls.delete(callId);
    const end = finished(callId, now, { now: facts.now, failed: status === "failed", interrupted: false });
    return [[...begun, ...started, ...end], { ...withReply, calls }];
  }
  calls.set(callId, now);
  const shows: ForeignEvent[] =
    update["content"] != null && now.display !== before.display
      ? [
          {
            type: "tool.progress",
            callId,
            tool: now.tool,
            elapsedMs: Math.max(0, facts.now - now.since),
            display: now.display,
          },
        ]
      : [];
  return [[...begun, ...started, ...shows], { ...withReply, calls }];
}

/** It ends the reply that it stands in. */
function beginCall(
  callId: string,
  update: Record<string, unknown>,
  memo: ForeignMemo,
  { now }: ForeignFacts,
): Heard {
  const { name, title, kind, rawInput } = update;
  const tool = asText(name) || asText(title) || asText(kind) || "tool";
  const input: Json = inputOf(rawInput, title);
  const [said, next] = endReply(memo, now, [{ type: "tool_use", id: callId, name: tool, input }]);
  const call = { tool, input, since: now, isStarted: false, display: nothingShown, result: [] };
  return [said, { ...next, calls: new Map([...next.calls, [callId, call]]) }];
}

/** Where it says nothing of its input, its title is what it is about. */
function inputOf(rawInput: unknown, title: unknown): Json {
  const given = asObject(rawInput);
  if (isJson(given) && Object.keys(given).length > 0) return given;
  return asText(title) === "" ? {} : { description: asText(title) };
}

function changedCall(
  before: ForeignCall,
  { title, rawInput, content }: Record<string, unknown>,
  facts: ForeignFacts,
): ForeignCall {
  const input = rawInput == null && title == null ? before.input : inputOf(rawInput ?? before.input, title);
  if (content == null) return { ...before, input };
  const parts = asList(content).map(asObject);
  return { ...before, input, display: displayOf(parts, before, facts), result: resultOf(parts) };
}

/** What says most is shown: a change of a file, else a terminal, else words. */
function displayOf(
  parts: readonly Record<string, unknown>[],
  { display }: Pick<ForeignCall, "display">,
  { terminal }: ForeignFacts,
): Display {
  const diff = parts.find(({ type }) => type === "diff");
  if (diff)
    return {
      kind: "diff",
      path: asText(diff["path"]),
      hunks: hunksOf(asText(diff["oldText"]), asText(diff["newText"])),
    };
  const shown = parts.find(({ type }) => type === "terminal");
  const ours = shown && terminal(asText(shown["terminalId"]));
  if (ours) return ours;
  const words = wordsOfParts(parts);
  return words === "" ? display : { kind: "markdown", text: words };
}

const wordsOfParts = (parts: readonly Record<string, unknown>[]): string =>
  parts
    .flatMap(({ type, content }) => (type === "content" ? [wordsIn(content)] : []))
    .filter((words) => words !== "")
    .join("\n\n");

function resultOf(parts: readonly Record<string, unknown>[]): readonly ResultPart[] {
  const words = wordsOfParts(parts);
  return words === "" ? [] : [text(words)];
}

function finished(
  callId: string,
  { tool, display, result, since }: ForeignCall,
  { now, failed, interrupted }: { now: number; failed: boolean; interrupted: boolean },
): DurableEvent[] {
  const ms = Math.max(0, now - since);
  const content = [...result];
  return [
    {
      type: "tool.finished",
      callId,
      tool,
      content,
      failed,
      display,
      ms,
      ...(interrupted ? { interrupted } : {}),
    },
  ];
}

/** As a call of a tool that keeps such a list: that is where screens look for one. */
function hearPlan(
  { entries }: Record<string, unknown>,
  memo: ForeignMemo,
  { now, turnId }: ForeignFacts,
): Heard {
  const todos = asList(entries).map((entry, index): Todo => {
    const { content, status } = asObject(entry);
    const isKnown = status === "in_progress" || status === "completed";
    return { id: String(index + 1), text: asText(content), status: isKnown ? status : "pending" };
  });
  const plans = memo.plans + 1;
  const callId = `${turnId}-plan-${plans}`;
  const tool = "TodoWrite";
  const input: Json = { todos: todos.map(({ text: content, status }) => ({ content, status })) };
  const [said, next] = endReply(memo, now, [{ type: "tool_use", id: callId, name: tool, input }]);
  const display: Display = {
    kind: "todo",
    items: todos.map(({ text: words, status }) => ({ text: words, status })),
  };
  return [
    [
      ...said,
      { type: "tool.started", callId, tool, by: "host" },
      { type: "tool.finished", callId, tool, content: [], failed: false, display, ms: 0, todos },
    ],
    { ...next, plans },
  ];
}
