/** Conversations of other agents as logs of ours: what was said, called and found. Pure; what is not understood is left out. */
import { isObject, type JsonObject } from "../../kernel/json.ts";
import type { Durable, DurableEvent } from "../../protocol/event/durable.ts";
import type { Block, ToolUse } from "../../protocol/message.ts";
import { text } from "../../protocol/message.ts";
import { noUsage } from "../../protocol/usage.ts";

/** A line of theirs, in the few words that we keep. */
export type OtherLine =
  | { readonly kind: "said"; readonly text: string; readonly at: number }
  | {
      readonly kind: "replied";
      readonly id: string;
      readonly model: string;
      readonly content: Block[];
      readonly at: number;
    }
  | {
      readonly kind: "found";
      readonly callId: string;
      readonly text: string;
      readonly failed: boolean;
      readonly at: number;
    };

export type OtherSession = { readonly id: string; readonly cwd: string; readonly version: string };

export function eventsOf(lines: readonly OtherLine[], { id, cwd, version }: OtherSession): Durable[] {
  const events: Durable[] = [];
  const calls = new Map<string, ToolUse>();
  let turn: { id: string; at: number } | undefined;
  let count = 0;
  const made = (kind: string): string => `${kind}-${id}-${++count}`;
  const record = (at: number, event: DurableEvent): void =>
    void events.push({ seq: events.length + 1, at, session: id, ...event });
  const endTurn = (at: number): void => {
    if (turn)
      record(at, {
        type: "turn.finished",
        turnId: turn.id,
        inputIds: [`input-${turn.id}`],
        reason: "completed",
        usage: noUsage,
        costUsd: 0,
        requests: 0,
        ms: Math.max(0, at - turn.at),
        apiMs: 0,
      });
    turn = undefined;
  };
  const model = lines.find((line) => line.kind === "replied")?.model ?? "";
  const settings = { model, permissionMode: "default", thinking: { kind: "off" } } as const;
  record(lines[0]?.at ?? 0, { type: "session.opened", keel: version, cwd, settings });
  for (const line of merged(lines)) {
    const { at } = line;
    if (line.kind === "said") {
      endTurn(at);
      turn = { id: made("turn"), at };
      const input = {
        id: `input-${turn.id}`,
        content: [text(line.text)],
        when: "after",
        from: { kind: "person" },
      } as const;
      record(at, { type: "input.accepted", input: { ...input, content: [...input.content] } });
      record(at, { type: "turn.started", turnId: turn.id, inputIds: [input.id] });
    } else if (!turn) continue;
    else if (line.kind === "replied") {
      const requestId = made("request");
      const uses = line.content.filter((block) => block.type === "tool_use");
      for (const use of uses) calls.set(use.id, use);
      record(at, { type: "model.started", requestId, model: line.model, purpose: "turn", attempt: 1 });
      record(at, {
        type: "model.finished",
        requestId,
        messageId: made("message"),
        model: line.model,
        content: line.content,
        stop: uses.length > 0 ? "tool_use" : "end",
        usage: noUsage,
        costUsd: 0,
        ms: 0,
      });
    } else {
      const use = calls.get(line.callId);
      if (!use) continue;
      calls.delete(line.callId);
      record(at, {
        type: "tool.finished",
        callId: line.callId,
        tool: use.name,
        content: [text(line.text)],
        failed: line.failed,
        ms: 0,
        display: { kind: "text", text: line.text.slice(0, 2_000) },
      });
    }
  }
  const last = lines.at(-1)?.at ?? 0;
  endTurn(last);
  record(last, { type: "session.closed", reason: "ended" });
  return events;
}

/** A reply may be written in several lines, one for each block. */
function merged(lines: readonly OtherLine[]): OtherLine[] {
  const all: OtherLine[] = [];
  for (const line of lines) {
    const before = all.at(-1);
    if (line.kind === "replied" && before?.kind === "replied" && before.id === line.id)
      all[all.length - 1] = { ...before, content: [...before.content, ...line.content] };
    else all.push(line);
  }
  return all;
}

type RawLine = Record<string, unknown>;

/** A line of a transcript of Claude Code: `user` and `assistant` messages; those of agents inside are left out. */
export function claudeLines(raw: RawLine): OtherLine[] {
  const { type, message, isSidechain, isMeta } = raw;
  if (isSidechain === true || isMeta === true || !isObject(message)) return [];
  const at = timeOf(raw["timestamp"]);
  const content = typeof message["content"] === "string" ? [text(message["content"])] : message["content"];
  const blocks = Array.isArray(content) ? content.filter(isObject) : [];
  if (type === "assistant") {
    const kept = blocks.flatMap(replyBlock);
    const { id, model } = message;
    return kept.length === 0
      ? []
      : [{ kind: "replied", id: String(id), model: String(model ?? ""), content: kept, at }];
  }
  if (type !== "user") return [];
  const said = blocks
    .flatMap((block) => (block["type"] === "text" ? [String(block["text"] ?? "")] : []))
    .join("\n");
  return [
    ...blocks.flatMap((block) => foundIn(block, at)),
    ...(said.trim() === "" ? [] : [{ kind: "said" as const, text: said, at }]),
  ];
}

function replyBlock(block: RawLine): Block[] {
  if (block["type"] === "text" && typeof block["text"] === "string" && block["text"].trim() !== "")
    return [text(block["text"])];
  if (block["type"] !== "tool_use" || typeof block["id"] !== "string" || typeof block["name"] !== "string")
    return [];
  // What was read from JSON is JSON.
  const input = isObject(block["input"]) ? (block["input"] as JsonObject) : {};
  return [{ type: "tool_use", id: block["id"], name: block["name"], input }];
}

function foundIn(block: RawLine, at: number): OtherLine[] {
  if (block["type"] !== "tool_result" || typeof block["tool_use_id"] !== "string") return [];
  const { content } = block;
  const words = Array.isArray(content)
    ? content
        .flatMap((part) => (isObject(part) && typeof part["text"] === "string" ? [part["text"]] : []))
        .join("\n")
    : String(content ?? "");
  return [
    {
      kind: "found",
      callId: block["tool_use_id"],
      text: words || "(nothing)",
      failed: block["is_error"] === true,
      at,
    },
  ];
}

/** A line of a rollout of Codex: its messages alone. */
export function codexLines(raw: RawLine): OtherLine[] {
  const { type, payload } = raw;
  if (type !== "response_item" || !isObject(payload) || payload["type"] !== "message") return [];
  const at = timeOf(raw["timestamp"]);
  const parts = Array.isArray(payload["content"]) ? payload["content"].filter(isObject) : [];
  const words = parts.flatMap((part) => (typeof part["text"] === "string" ? [part["text"]] : [])).join("\n");
  // What they tell the model about the place is not what a person said.
  if (words.trim() === "" || /^<(?:environment_context|user_instructions)/.test(words)) return [];
  if (payload["role"] === "user") return [{ kind: "said", text: words, at }];
  if (payload["role"] !== "assistant") return [];
  return [{ kind: "replied", id: `${at}`, model: "", content: [text(words)], at }];
}

const timeOf = (value: unknown): number => {
  const at = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? 0 : at;
};
