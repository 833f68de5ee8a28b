// Which of our events a neutral record of the transcript corpus stands for.
import { createHash } from "node:crypto";
import type { DurableEvent } from "../../keel/src/protocol/event/durable.ts";
import type { Block } from "../../keel/src/protocol/message.ts";
import { noUsage } from "../../keel/src/protocol/usage.ts";
import { encodeHeader } from "../../keel/src/store/jsonl/line.ts";

type Envelope = { readonly seq: number; readonly id: string; readonly session: string; readonly ts: string };
type NeutralBlock =
  | { type: "text"; text: string }
  | { type: "tool_use"; id: string; name: string; input: never };

export type NeutralRecord = Envelope &
  (
    | { readonly type: "session"; readonly cwd: string; readonly model: string }
    | { readonly type: "user"; readonly message: { readonly content: string } }
    | {
        readonly type: "assistant";
        readonly message: { readonly content: NeutralBlock[]; readonly stop_reason: string };
      }
    | { readonly type: "tool_start"; readonly tool_use_id: string }
    | {
        readonly type: "tool_result";
        readonly tool_use_id: string;
        readonly is_error: boolean;
        readonly content: string;
      }
    | { readonly type: "compact_boundary"; readonly summary: string; readonly keepFrom: string }
  );

/** What a line of the log holds. */
export type Neutral =
  | { readonly kind: "header"; readonly line: Buffer }
  | { readonly kind: "event"; readonly at: number; readonly session: string; readonly event: DurableEvent };

export type Placed = {
  readonly neutral: number;
  readonly role: "before" | "main" | "after";
  readonly event: Neutral;
};

export function toEvents(records: readonly NeutralRecord[]): Placed[] {
  const story = new Story(records);
  return records.flatMap((record) => {
    const at = Date.parse(record.ts) || 0;
    const place =
      (role: Placed["role"]) =>
      (event: DurableEvent): Placed => ({
        neutral: record.seq,
        role,
        event: { kind: "event", at, session: record.session, event },
      });
    const { before, main, after } = story.tell(record);
    return [
      ...(record.type === "session" ? [headerOf(record, at)] : []),
      ...before.map(place("before")),
      place("main")(main),
      ...after.map(place("after")),
    ];
  });
}

/** The id that stands for a neutral one: a UUID, and always the same. */
export function uuidOf(id: string): string {
  const hex = createHash("sha256").update(id).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** How many of the newest messages a boundary keeps; far too many when it points nowhere. */
export const NOWHERE = 999;

type Told = { readonly before: DurableEvent[]; readonly main: DurableEvent; readonly after: DurableEvent[] };

/** Follows the conversation, since our events name the turn, the request and the tool they belong to. */
class Story {
  readonly #messages: string[];
  readonly #tools = new Map<string, string>();
  #input = uuidOf("input");
  #turn = uuidOf("turn");

  constructor(records: readonly NeutralRecord[]) {
    this.#messages = records.flatMap(({ type, id }) => (type === "user" || type === "assistant" ? [id] : []));
  }

  tell(record: NeutralRecord): Told {
    switch (record.type) {
      case "session":
        return only({
          type: "session.opened",
          keel: "0.1.0",
          cwd: record.cwd,
          settings: { model: record.model, permissionMode: "default", thinking: { kind: "off" } },
        });
      case "user":
        return this.#user(record.id, record.message.content);
      case "assistant":
        return this.#assistant(record.id, record.message.content, record.message.stop_reason);
      case "tool_start":
        return only({
          type: "tool.started",
          callId: record.tool_use_id,
          tool: this.#tool(record.tool_use_id),
          by: "host",
        });
      case "tool_result":
        return only({
          type: "tool.finished",
          callId: record.tool_use_id,
          tool: this.#tool(record.tool_use_id),
          content: [{ type: "text", text: record.content }],
          failed: record.is_error,
          display: { kind: "text", text: record.content },
          ms: 1,
        });
      case "compact_boundary":
        return this.#compacted(record.id, record.summary, record.keepFrom);
    }
  }

  #user(id: string, text: string): Told {
    this.#input = uuidOf(id);
    this.#turn = uuidOf(`turn ${id}`);
    return {
      before: [],
      main: {
        type: "input.accepted",
        input: {
          id: this.#input,
          content: [{ type: "text", text }],
          from: { kind: "person" },
          when: "after",
        },
      },
      after: [{ type: "turn.started", turnId: this.#turn, inputIds: [this.#input] }],
    };
  }

  #assistant(id: string, content: readonly NeutralBlock[], stop: string): Told {
    const requestId = uuidOf(`request ${id}`);
    for (const block of content) if (block.type === "tool_use") this.#tools.set(block.id, block.name);
    const finished: DurableEvent = {
      type: "turn.finished",
      turnId: this.#turn,
      inputIds: [this.#input],
      reason: "completed",
      usage: noUsage,
      costUsd: 0,
      requests: 1,
      ms: 1,
      apiMs: 1,
    };
    return {
      before: [{ type: "model.started", requestId, model: "fake-1", purpose: "turn", attempt: 1 }],
      main: {
        type: "model.finished",
        requestId,
        messageId: uuidOf(id),
        model: "fake-1",
        content: content.map((block): Block => block),
        stop: stop === "tool_use" ? "tool_use" : "end",
        usage: noUsage,
        costUsd: 0,
        ms: 1,
      },
      after: stop === "tool_use" ? [] : [finished],
    };
  }

  #compacted(id: string, summary: string, keepFrom: string): Told {
    const from = this.#messages.indexOf(keepFrom);
    const before = this.#messages.filter((message) => message < id).length;
    const requestId = uuidOf(`request ${id}`);
    return {
      before: [{ type: "model.started", requestId, model: "fake-1", purpose: "compaction", attempt: 1 }],
      main: {
        type: "context.compacted",
        requestId,
        trigger: "manual",
        summary,
        keep: from === -1 ? NOWHERE : before - from,
        tokensBefore: 1_000,
        tokensAfter: 100,
        usage: noUsage,
        costUsd: 0,
        model: "fake-1",
        ms: 1,
      },
      after: [],
    };
  }

  #tool(callId: string): string {
    return this.#tools.get(callId) ?? "Bash";
  }
}

const only = (main: DurableEvent): Told => ({ before: [], main, after: [] });

function headerOf({ seq, session, cwd }: NeutralRecord & { cwd: string }, at: number): Placed {
  return {
    neutral: seq,
    role: "before",
    event: { kind: "header", line: encodeHeader({ session, cwd, at }).subarray(0, -1) },
  };
}
