/** Makes the view of a request from whichever form it has. */
import { isObject } from "../kernel/json.ts";
import { never } from "../kernel/result.ts";
import type { ModelRequest } from "../ports/model.ts";
import type { Block } from "../protocol/message.ts";
import type { BlockView, RequestView } from "./request-view.ts";
import { messagesView } from "./wires/anthropic-view.ts";
import { geminiView, isGeminiBody } from "./wires/gemini-view.ts";
import { chatView, isChatBody } from "./wires/openai-view.ts";
import { isResponsesBody, responsesView } from "./wires/responses-view.ts";

/** Total: whatever is given, it returns a view, with problems where something could not be read. */
export function viewOf(request: unknown): RequestView {
  if (isModelRequest(request)) return engineView(request);
  if (isGeminiBody(request)) return geminiView(request);
  if (isResponsesBody(request)) return responsesView(request);
  return isChatBody(request) ? chatView(request) : messagesView(request);
}

function isModelRequest(request: unknown): request is ModelRequest {
  return isObject(request) && "maxOutputTokens" in request && Array.isArray(request["messages"]);
}

function engineView(request: ModelRequest): RequestView {
  return {
    model: request.model,
    system: request.system.map((text) => ({ text })),
    tools: request.tools.map(({ name, description, input }) => ({ name, description, schema: input })),
    messages: request.messages.map(({ role, content }) => ({ role, blocks: content.map(engineBlock) })),
    maxTokens: request.maxOutputTokens,
    thinking: request.thinking,
    forcedTool: undefined,
    problems: [],
  };
}

function engineBlock(block: Block): BlockView {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "image":
    case "document": {
      const { type, mediaType, data } = block;
      return { type, source: { kind: "base64", mediaType, data } };
    }
    case "thinking": {
      const { text, signature, hidden } = block;
      return { type: "thinking", text, signed: signature !== undefined, hidden: hidden !== undefined };
    }
    case "tool_use": {
      // What was not JSON cannot be sent back as it was: each adapter sends an empty object in its place.
      const input = block.broken === undefined ? block.input : {};
      return { type: "tool_use", id: block.id, name: block.name, input };
    }
    case "tool_result": {
      const { callId, content, failed } = block;
      return { type: "tool_result", id: callId, content: content.map(engineBlock), failed };
    }
    case "foreign":
      return { type: "other", name: block.provider };
    default:
      return never(block);
  }
}
