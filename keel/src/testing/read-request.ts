/** Makes the view of a request from whichever form it has. */
import { isObject } from "../kernel/json.ts";
import { never } from "../kernel/never.ts";
import type { ModelRequest } from "../ports/model.ts";
import type { Block } from "../protocol/message.ts";
import type { BlockView, RequestView } from "./request-view.ts";
import { messagesView } from "./wires/anthropic-view.ts";
import { chatView, isChatBody } from "./wires/openai-view.ts";

/** Total: whatever is given, it returns a view, with problems where something could not be read. */
export function viewOf(request: unknown): RequestView {
  if (isModelRequest(request)) return engineView(request);
  return isChatBody(request) ? chatView(request) : messagesView(request);
}

export function isModelRequest(request: unknown): request is ModelRequest {
  return isObject(request) && "maxOutputTokens" in request && Array.isArray(request["messages"]);
}

function engineView(request: ModelRequest): RequestView {
  return {
    model: request.model,
    system: request.system.map((text) => ({ text, cache: undefined })),
    tools: request.tools.map(({ name, description, input }) => ({
      name,
      description,
      schema: input,
      cache: undefined,
    })),
    messages: request.messages.map(({ role, content }) => ({ role, blocks: content.map(engineBlock) })),
    maxTokens: request.maxOutputTokens,
    thinking: request.thinking,
    forcedTool: undefined,
    problems: [],
  };
}

function engineBlock(block: Block): BlockView {
  const cache = undefined;
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text, cache };
    case "image":
    case "document":
      return {
        type: block.type,
        source: { kind: "base64", mediaType: block.mediaType, data: block.data },
        cache,
      };
    case "thinking":
      return {
        type: "thinking",
        text: block.text,
        signed: block.signature !== undefined,
        hidden: block.hidden !== undefined,
        cache,
      };
    case "tool_use": {
      // What was not JSON cannot be sent back as it was: each adapter sends an empty object in its place.
      const input = block.broken === undefined ? block.input : {};
      return { type: "tool_use", id: block.id, name: block.name, input, cache };
    }
    case "tool_result":
      return {
        type: "tool_result",
        id: block.callId,
        content: block.content.map(engineBlock),
        failed: block.failed,
        cache,
      };
    case "foreign":
      return { type: "other", name: block.provider, cache };
    default:
      return never(block);
  }
}
