/** A request as a package of the AI SDK takes it. The same messages give the same prompt, of which the package makes its wire. */
import { isObject, type JsonObject, parseJson } from "../../kernel/json.ts";
import { never } from "../../kernel/result.ts";
import type { ModelRequest } from "../../ports/model.ts";
import type { Block, Message, ResultPart, ToolResult } from "../../protocol/message.ts";
import type { ModelInfo } from "../../protocol/usage.ts";
import { isImageType } from "../encoding.ts";
import { callId, toolName } from "../openai/names.ts";
import type { PromptMessage, StreamOptions } from "./contract.ts";

export function promptOf(
  request: ModelRequest,
  info: ModelInfo,
  version: string,
): Pick<StreamOptions, "prompt" | "tools" | "maxOutputTokens"> {
  const reader: PromptReader = { model: request.model, images: info.abilities.images, version };
  const system = request.system.filter((part) => part.trim() !== "").join("\n\n");
  const names = new Map(
    request.messages.flatMap(({ content }) =>
      content.flatMap((block): [string, string][] =>
        block.type === "tool_use" ? [[block.id, block.name]] : [],
      ),
    ),
  );
  const tools = request.tools.map(({ name, description, input }) => ({
    type: "function" as const,
    name: toolName(name),
    description,
    inputSchema: input,
  }));
  return {
    prompt: [
      ...(system === "" ? [] : [{ role: "system", content: system } as const]),
      ...joined(request.messages.flatMap((message) => messagesOf(message, reader, names))),
    ],
    ...(tools.length === 0 ? {} : { tools }),
    maxOutputTokens: request.maxOutputTokens,
  };
}

type PromptReader = { readonly model: string; readonly images: boolean; readonly version: string };

/** Neighbours of one role are one message. */
function joined(messages: readonly PromptMessage[]): PromptMessage[] {
  const found: PromptMessage[] = [];
  for (const message of messages) {
    const last = found.at(-1);
    if (last?.role === message.role && last.role !== "system" && message.role !== "system")
      found.splice(-1, 1, { role: last.role, content: [...last.content, ...message.content] });
    else found.push(message);
  }
  return found;
}

function messagesOf(
  { role, content }: Message,
  reader: PromptReader,
  names: ReadonlyMap<string, string>,
): PromptMessage[] {
  const results: JsonObject[] = [];
  const parts: JsonObject[] = [];
  let forCall: JsonObject | undefined;
  for (const block of content) {
    switch (block.type) {
      case "text":
        if (block.text.trim() !== "") parts.push({ type: "text", text: block.text });
        break;
      case "image":
      case "document":
        parts.push(mediaPart(block, reader));
        break;
      case "tool_use": {
        const input = isObject(block.input) && block.broken === undefined ? (block.input as JsonObject) : {};
        const call = {
          type: "tool-call",
          toolCallId: callId(block.id),
          toolName: toolName(block.name),
          input,
        };
        parts.push(forCall ? { ...call, providerOptions: forCall } : call);
        forCall = undefined;
        break;
      }
      case "tool_result":
        results.push(resultPart(block, reader, names.get(block.callId) ?? "unknown"));
        for (const part of block.content)
          if (isShown(part, reader))
            parts.push(
              { type: "text", text: `[The image in the result of the call ${callId(block.callId)}:]` },
              mediaPart(part, reader),
            );
        break;
      case "thinking": {
        const kept = keptWith(block, reader);
        const said = parts.at(-1);
        if (kept?.on === "call") forCall = kept.metadata;
        else if (kept?.on === "text" && said?.["type"] === "text")
          parts.splice(-1, 1, { ...said, providerOptions: kept.metadata });
        else if (kept?.on === "text") parts.push({ type: "text", text: "", providerOptions: kept.metadata });
        else if (kept) parts.push({ type: "reasoning", text: block.text, providerOptions: kept.metadata });
        break;
      }
      case "foreign":
        break;
      default:
        never(block);
    }
  }
  return [
    ...(results.length > 0 ? [{ role: "tool", content: results } as const] : []),
    ...(parts.length > 0 ? [{ role, content: parts }] : []),
  ];
}

/** What the package gave with a thought or a call, and wants back with it; of another model's it would be refused. */
function keptWith(
  { signature, model }: Extract<Block, { type: "thinking" }>,
  reader: PromptReader,
): { readonly on: string; readonly metadata: JsonObject } | undefined {
  const kept = signature === undefined || model !== reader.model ? undefined : parseJson(signature);
  if (!isObject(kept) || typeof kept["on"] !== "string" || !isObject(kept["metadata"])) return undefined;
  return { on: kept["on"], metadata: kept["metadata"] as JsonObject };
}

function resultPart(
  { callId: id, content, failed }: ToolResult,
  reader: PromptReader,
  name: string,
): JsonObject {
  const words = content
    .map((part) => (isShown(part, reader) ? "[An image, which follows below.]" : mediaText(part)))
    .filter((text) => text.trim() !== "")
    .join("\n");
  const value = words === "" ? (failed ? "the tool failed without a word." : "(no output)") : words;
  const output = { type: failed ? "error-text" : "text", value };
  return { type: "tool-result", toolCallId: callId(id), toolName: toolName(name), output };
}

function mediaPart(block: ResultPart, reader: PromptReader): JsonObject {
  if (block.type === "text" || !isShown(block, reader)) return { type: "text", text: mediaText(block) };
  const { mediaType, data } = block;
  // The newest contract says what kind of data it is.
  return { type: "file", mediaType, data: reader.version === "v4" ? { type: "data", data } : data };
}

const isShown = (block: ResultPart, { images }: PromptReader): boolean =>
  block.type === "image" && images && isImageType(block.mediaType);

/** One attachment that the model cannot read must not make every later request of the session fail. */
function mediaText(block: ResultPart): string {
  if (block.type === "text") return block.text;
  const { mediaType, data } = block;
  if (block.type === "image") return `[An image (${mediaType}) was left out: this model cannot read it.]`;
  const name = block.name === undefined ? "" : ` ${block.name}`;
  if (!mediaType.startsWith("text/") && mediaType !== "application/json")
    return `[The document${name} (${mediaType}) was left out: this model cannot read it.]`;
  return `[The document${name}:]\n${Buffer.from(data, "base64").toString("utf8")}`;
}
