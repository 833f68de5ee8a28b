/** The Responses wire, as a server speaks it. Only what is public about it: the shapes of its requests and events. */
import { asObject } from "../../kernel/json.ts";
import type { Usage } from "../../protocol/usage.ts";
import { lateCall, malformedHow, type ReadyBlock, type ReadyReply, streamed } from "../answers.ts";
import { openaiWire } from "./openai.ts";
import { responsesPrefix, responsesSession, responsesView } from "./responses-view.ts";
import type { Wire } from "./wire.ts";

export const responsesWire: Wire = {
  // Errors, keys and the list of models are those of the provider's other wire.
  ...openaiWire,
  name: "responses",
  view: responsesView,
  prefix: responsesPrefix,
  session: responsesSession,

  wants: ({ method, path }) => (method === "POST" && path.endsWith("/responses") ? "reply" : undefined),

  whole: (reply) => responseOf(reply, "whole"),

  said: (reply) => responsesPrefix({ input: outputOf(reply) }),

  *records(reply) {
    let sequence_number = 0;
    for (const event of eventsOf(reply)) {
      if (typeof event === "string") yield event;
      else yield record({ ...event, sequence_number: sequence_number++ });
    }
  },

  errorRecord: (error) => {
    const { message, code } = asObject(asObject(openaiWire.error({ status: 500, ...error }, ""))["error"]);
    return record({ type: "error", code: code ?? error.type, message, param: null });
  },
};

type ResponsesEvent = { readonly type: string } & Readonly<Record<string, unknown>>;

function* eventsOf(reply: ReadyReply): Generator<ResponsesEvent | string> {
  const how = malformedHow(reply);
  const created = { type: "response.created", response: responseOf(reply, "begun") };
  if (how === "delta-before-start")
    yield { type: "response.output_text.delta", output_index: 0, content_index: 0, delta: "early" };
  yield created;
  if (how === "two-message-starts") yield created;
  if (how === "garbage") yield "event: response.output_text.delta\ndata: {this is not JSON\n\n";
  for (const [index, block] of reply.blocks.entries()) yield* itemEvents(reply, block, index);
  const isCut = ["output_limit", "window_full"].includes(reply.stop) || isFiltered(reply);
  yield {
    type: isCut ? "response.incomplete" : "response.completed",
    response: responseOf(reply, "whole"),
  };
  if (how === "call-after-end") yield* itemEvents(reply, lateCall("call_scripted_late"), reply.blocks.length);
}

function* itemEvents(reply: ReadyReply, block: ReadyBlock, output_index: number): Generator<ResponsesEvent> {
  const item = itemOf(reply, block, output_index);
  const at = { item_id: item.id, output_index };
  if (block.type === "foreign") {
    yield { type: "response.output_item.done", output_index, item };
    return;
  }
  yield { type: "response.output_item.added", output_index, item: begun(item, block) };
  const part = { ...at, content_index: 0 };
  const isRefusal = block.type === "text" && reply.stop === "refusal";
  if (block.type === "text")
    yield { type: "response.content_part.added", ...part, part: { type: "output_text", text: "" } };
  if (block.type === "thinking" && block.text !== "")
    yield { type: "response.reasoning_summary_part.added", ...at, summary_index: 0 };
  for (const delta of streamed(block, reply.chunkChars)) {
    if (block.type === "text")
      yield { type: isRefusal ? "response.refusal.delta" : "response.output_text.delta", ...part, delta };
    else if (block.type === "thinking")
      yield { type: "response.reasoning_summary_text.delta", ...at, summary_index: 0, delta };
    else yield { type: "response.function_call_arguments.delta", ...at, delta };
  }
  if (block.type === "tool_use")
    yield { type: "response.function_call_arguments.done", ...at, arguments: block.json };
  yield { type: "response.output_item.done", output_index, item };
}

type OutputItem = { readonly id: string; readonly type: string } & Readonly<Record<string, unknown>>;

/** An item as it starts: its text and its arguments are still to come. */
function begun(item: OutputItem, { type }: ReadyBlock): OutputItem {
  if (type === "tool_use") return { ...item, arguments: "", status: "in_progress" };
  if (type === "thinking") return { ...item, summary: [], encrypted_content: null };
  return { ...item, content: [], status: "in_progress" };
}

function itemOf(reply: ReadyReply, block: ReadyBlock, index: number): OutputItem {
  const number = `${reply.id}_${index}`;
  const isLast = index === reply.blocks.length - 1;
  const status = reply.stop === "output_limit" && isLast ? "incomplete" : "completed";
  switch (block.type) {
    case "tool_use": {
      const { id: call_id, name, json } = block;
      return { id: `fc_${number}`, type: "function_call", status, call_id, name, arguments: json };
    }
    case "thinking": {
      const summary = block.text === "" ? [] : [{ type: "summary_text", text: block.text }];
      const encrypted_content = block.hidden ?? block.signature;
      return { id: `rs_${number}`, type: "reasoning", summary, encrypted_content };
    }
    case "foreign":
      return { id: `x_${number}`, type: "foreign", ...block.data };
    default: {
      const part =
        reply.stop === "refusal"
          ? { type: "refusal", refusal: block.text }
          : { type: "output_text", text: block.text, annotations: [] };
      return { id: `msg_${number}`, type: "message", status, role: "assistant", content: [part] };
    }
  }
}

const outputOf = (reply: ReadyReply): OutputItem[] =>
  reply.blocks.map((block, index) => itemOf(reply, block, index));

/** A refusal without a word is the filter's. */
const isFiltered = ({ stop, blocks }: ReadyReply): boolean =>
  stop === "refusal" && !blocks.some(({ type }) => type === "text");

function responseOf(reply: ReadyReply, when: "begun" | "whole"): object {
  const { id, model, stop } = reply;
  const about = { id, object: "response", created_at: 1_767_225_600, model, error: null };
  if (when === "begun") return { ...about, status: "in_progress", output: [], usage: null };
  const reason = isFiltered(reply) ? "content_filter" : "max_output_tokens";
  const isCut = ["output_limit", "window_full"].includes(stop) || isFiltered(reply);
  return {
    ...about,
    status: isCut ? "incomplete" : "completed",
    incomplete_details: isCut ? { reason } : null,
    output: outputOf(reply),
    ...usageField(reply),
  };
}

/** The count of a reply, or what a script wants in its place. The input includes what the cache read and wrote. */
function usageField(reply: ReadyReply): { usage?: object } {
  const how = malformedHow(reply);
  if (how === "missing-usage") return {};
  const sign = how === "negative-usage" ? -1 : 1;
  const {
    inputTokens,
    cacheReadTokens,
    cacheWriteTokens,
    outputTokens,
    thinkingTokens = 0,
  }: Usage = reply.usage;
  const input = sign * (inputTokens + cacheReadTokens + cacheWriteTokens);
  return {
    usage: {
      input_tokens: input,
      input_tokens_details: {
        cached_tokens: sign * cacheReadTokens,
        cache_write_tokens: sign * cacheWriteTokens,
      },
      output_tokens: sign * outputTokens,
      output_tokens_details: { reasoning_tokens: sign * thinkingTokens },
      total_tokens: input + sign * outputTokens,
    },
  };
}

const record = (event: ResponsesEvent): string => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
