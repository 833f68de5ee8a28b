/** Calls a tool of the program and reads what it returned. */

import type { OwnCall, OwnResult } from "../../app/compose/own-tools.ts";
import { reasonOf } from "../../kernel/fault.ts";
import { isJson, isObject, type Json } from "../../kernel/json.ts";
import { type ResultPart, text } from "../../protocol/message.ts";
import type { AnyToolDefinition, CallToolResult, ToolContent } from "./tool.ts";

/** A handler that throws has failed; the model reads why. */
export async function callTool(
  { handler }: AnyToolDefinition,
  input: unknown,
  { callId, signal, progress }: OwnCall,
): Promise<OwnResult> {
  try {
    const result = await handler(input as never, {
      signal,
      requestId: callId,
      _meta: { progressToken: callId, "claudecode/toolUseId": callId },
      async sendNotification({ method, params = {} }) {
        if (method === "notifications/progress") progress(sayProgress(params));
      },
    });
    return resultOf(result);
  } catch (thrown) {
    const words = reasonOf(thrown);
    return { content: [text(words || "The tool failed.")], failed: true };
  }
}

function resultOf(result: CallToolResult): OwnResult {
  if (!isObject(result) || !Array.isArray(result.content))
    return { content: [text("The tool returned no content.")], failed: true };
  const data: unknown = result.structuredContent ?? result.content;
  const parts = result.content.map(partOf);
  const structured =
    parts.length === 0 && result.structuredContent ? [text(JSON.stringify(result.structuredContent))] : [];
  return {
    content: [...parts, ...structured],
    failed: result.isError === true,
    ...(isJson(data) ? { data: data as Json } : {}),
  };
}

function partOf(part: ToolContent): ResultPart {
  switch (part.type) {
    case "text":
      return text(part.text);
    case "image":
      return { type: "image", mediaType: part.mimeType, data: part.data };
    case "resource":
      return resourcePart(part.resource);
    case "resource_link":
      return text(`${part.name}: ${part.uri}${part.description ? ` (${part.description})` : ""}`);
    case "audio":
      return text(`(audio, ${part.mimeType}: it cannot be shown here)`);
  }
}

function resourcePart(resource: Extract<ToolContent, { type: "resource" }>["resource"]): ResultPart {
  const { uri, text: words, blob, mimeType } = resource;
  if (words !== undefined) return text(words);
  if (blob !== undefined && mimeType?.startsWith("image/"))
    return { type: "image", mediaType: mimeType, data: blob };
  if (blob !== undefined && mimeType === "application/pdf")
    return { type: "document", mediaType: mimeType, data: blob };
  return text(`(a resource without text: ${uri})`);
}

function sayProgress(told: { progress?: number; total?: number; message?: string }): string {
  const { progress, total, message } = told;
  const count = progress === undefined ? "" : total === undefined ? `${progress}` : `${progress}/${total}`;
  return [count, message].filter(Boolean).join(" ");
}
