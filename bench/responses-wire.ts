/** The wire of responses, as far as a program needs it that shows a text: for peers that speak no other. */
import { asObject } from "../keel/src/kernel/json.ts";
import { type ReadyReply, streamed } from "../keel/src/testing/answers.ts";
import { openaiWire } from "../keel/src/testing/wires/openai.ts";
import type { Wire } from "../keel/src/testing/wires/wire.ts";

export const responsesWire: Wire = {
  name: "responses",
  ping: openaiWire.ping,
  view: (body) => {
    const { model, input } = asObject(body);
    return openaiWire.view({ model, messages: Array.isArray(input) ? input : [] });
  },
  wants: ({ method, path }) => (method === "POST" && path.endsWith("/responses") ? "reply" : undefined),
  keyIn: openaiWire.keyIn,
  violations: openaiWire.violations,
  errorType: openaiWire.errorType,
  error: openaiWire.error,
  errorRecord: openaiWire.errorRecord,
  models: openaiWire.models,
  count: openaiWire.count,
  wantsStream: openaiWire.wantsStream,
  whole: (reply) => ({ ...about(reply), status: "completed", output: [itemOf(reply)] }),
  *records(reply) {
    const place = { item_id: itemId, output_index: 0, content_index: 0 };
    yield record("response.created", { response: { ...about(reply), status: "in_progress" } });
    yield record("response.output_item.added", {
      output_index: 0,
      item: { ...itemOf(reply), status: "in_progress", content: [] },
    });
    for (const block of reply.blocks)
      for (const delta of streamed(block, reply.chunkChars))
        yield record("response.output_text.delta", { ...place, delta });
    yield record("response.output_item.done", { output_index: 0, item: itemOf(reply) });
    yield record("response.completed", { response: { ...about(reply), status: "completed" } });
  },
};

const itemId = "msg_scripted";

const record = (type: string, more: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;

function about({ id, model, usage }: ReadyReply): object {
  const { inputTokens, outputTokens } = usage;
  return {
    id,
    object: "response",
    model,
    usage: {
      input_tokens: inputTokens,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: outputTokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: inputTokens + outputTokens,
    },
  };
}

function itemOf({ blocks }: ReadyReply): object {
  const text = blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
  const content = [{ type: "output_text", text, annotations: [] }];
  return { type: "message", id: itemId, role: "assistant", status: "completed", content };
}
