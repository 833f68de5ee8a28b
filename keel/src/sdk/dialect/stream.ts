/**
 * Partial messages: a streamed reply as the events of the Messages wire. Every `message_start` gets its
 * `message_stop`, also when the reply is withdrawn, so that a reader never waits for the end of one that will not come.
 *
 * The end of a block is passed on when the next block begins or the reply is on record. So the complete `assistant`
 * message of a reply's last block comes before that block's `content_block_stop`, and yet after nothing can go wrong.
 */

import { present } from "../../kernel/json.ts";
import { never } from "../../kernel/result.ts";
import { uuidFrom } from "../../kernel/uuid.ts";
import type { ReplyEvent } from "../../protocol/event/live.ts";
import type { Stop } from "../../protocol/reasons.ts";
import { noUsage, type Usage } from "../../protocol/usage.ts";
import type { SDKDelta, SDKRawStreamEvent } from "../messages/content.ts";
import type { SDKPartialAssistantMessage } from "../messages/messages.ts";
import { toContentBlock, toStopReason, toUsage } from "./blocks.ts";
import type { DialectMemo, DialectOutput, DurableOf, StreamMemo } from "./memo.ts";
import { modelMessage, nothingBeside } from "./say.ts";

/** From here on the reply's events are passed on. */
export function openStream(memo: DialectMemo, event: DurableOf<"model.started">): DialectMemo {
  const { requestId, at } = event;
  const stream = { requestId, requestedAt: at, providerId: undefined, begun: false, block: null, events: 0 };
  return { ...memo, stream };
}

export function fromStream(event: ReplyEvent, memo: DialectMemo): DialectOutput<SDKPartialAssistantMessage> {
  const { stream } = memo;
  // Nobody wants partial messages, or it is the stream of another request.
  if (!stream || stream.requestId !== event.requestId) return [[], memo];
  if (event.type === "reply.started") return begin(event, memo, { ...stream, providerId: event.providerId });
  if (!stream.begun) return [[], memo];
  const delta = (index: number, said: SDKDelta) =>
    pass(memo, stream, [{ type: "content_block_delta", index, delta: said }]);
  switch (event.type) {
    case "block.started": {
      const block = toContentBlock(event.block);
      if (!block) return [[], memo];
      const start = { type: "content_block_start" as const, index: event.index, content_block: block };
      return pass(memo, { ...stream, block: event.index }, [...endOfBlock(stream), start]);
    }
    case "text.delta":
      return delta(event.index, { type: "text_delta", text: event.text });
    case "thinking.delta":
      return delta(event.index, { type: "thinking_delta", thinking: event.text, estimated_tokens: null });
    case "signature.delta":
      return delta(event.index, { type: "signature_delta", signature: event.text });
    case "call.delta":
      return delta(event.index, { type: "input_json_delta", partial_json: event.json });
    case "block.finished":
      return [[], memo];
    case "reply.withdrawn":
      return closeStream(memo, { requestId: event.requestId, stop: null, usage: noUsage });
    default:
      return never(event);
  }
}

/** The last events of a reply that is on record (`stop` says how it ended) or was withdrawn (`stop` is null). */
export function closeStream(
  memo: DialectMemo,
  { requestId, stop, usage }: { requestId: string; stop: Stop | null; usage: Usage },
): DialectOutput<SDKPartialAssistantMessage> {
  const { stream } = memo;
  if (stream?.requestId !== requestId) return [[], memo];
  if (!stream.begun) return [[], { ...memo, stream: null }];
  const { container, stop_details, context_management } = nothingBeside;
  const stop_reason = stop === null ? null : toStopReason(stop);
  const delta = { stop_reason, stop_sequence: null, container, stop_details };
  const [messages] = pass(memo, stream, [
    ...endOfBlock(stream),
    { type: "message_delta", delta, usage: toUsage(usage), context_management },
    { type: "message_stop" },
  ]);
  return [messages, { ...memo, stream: null }];
}

function begin(
  event: Extract<ReplyEvent, { type: "reply.started" }>,
  memo: DialectMemo,
  stream: StreamMemo,
): DialectOutput<SDKPartialAssistantMessage> {
  const { model, usage = noUsage, providerId: id = event.requestId } = event;
  const message = modelMessage({ id, model, content: [], usage });
  const start = { type: "message_start" as const, message };
  const [messages, next] = pass(memo, { ...stream, begun: true }, [start]);
  const ttft = Math.max(0, event.at - stream.requestedAt);
  return [messages.map((message) => ({ ...message, ttft_ms: ttft })), next];
}

const endOfBlock = ({ block }: StreamMemo): SDKRawStreamEvent[] =>
  block === null ? [] : [{ type: "content_block_stop", index: block }];

function pass(
  memo: DialectMemo,
  stream: StreamMemo,
  events: SDKRawStreamEvent[],
): DialectOutput<SDKPartialAssistantMessage> {
  const { sessionId } = memo.facts;
  const messages = events.map((event, offset): SDKPartialAssistantMessage => {
    const uuid = uuidFrom(`${stream.requestId}/${stream.events + offset}`);
    const provider = present({ api_message_id: stream.providerId });
    return {
      type: "stream_event",
      event,
      parent_tool_use_id: null,
      uuid,
      session_id: sessionId,
      ...provider,
    };
  });
  return [messages, { ...memo, stream: { ...stream, events: stream.events + events.length } }];
}
