/**
 * What a server of the chat wire compares, as blocks. Neighbouring texts of one role are sent as one, with a blank line
 * between them, so a text counts by its paragraphs: what is added to it extends it.
 */

import { isObject } from "../../kernel/json.ts";
import type { Section } from "../../protocol/boundary.ts";
import type { MarkedBlock } from "./wire.ts";

export function chatPrefix(body: unknown): MarkedBlock[] {
  const fields = isObject(body) ? body : {};
  const { reasoning_effort, tool_choice, response_format } = fields;
  const messages = listIn(fields["messages"]).filter(isObject);
  const isPrompt = ({ role }: Record<string, unknown>) => role === "system" || role === "developer";
  return [
    ...listIn(fields["tools"]).map((tool) => blockOf("tools", `tool ${toolName(tool)}`, tool)),
    ...messages
      .filter(isPrompt)
      .flatMap(paragraphsOf)
      .map((words, index) => blockOf("system", `system ${index + 1}`, words)),
    blockOf("thinking", "thinking", { reasoning_effort, tool_choice, response_format }),
    ...messages.filter((message) => !isPrompt(message)).flatMap(messageBlocks),
  ];
}

/** Whose request it is: a server that routes by a key is given the session's id. */
export function chatSession(body: unknown): string | undefined {
  const key = isObject(body) ? (body["prompt_cache_key"] ?? body["user"]) : undefined;
  return typeof key === "string" && key !== "" ? key : undefined;
}

function messageBlocks(message: Record<string, unknown>): MarkedBlock[] {
  const { role, tool_calls: calls } = message;
  if (role === "tool") return [blockOf("messages", "user tool_result", message)];
  return [
    ...paragraphsOf(message).map((part) =>
      blockOf("messages", `${String(role)} ${typeof part === "string" ? "text" : "part"}`, part),
    ),
    ...listIn(calls).map((call) => blockOf("messages", `${String(role)} tool_use`, call)),
  ];
}

function paragraphsOf({ content }: Record<string, unknown>): unknown[] {
  if (typeof content === "string") return content.split("\n\n");
  return listIn(content).flatMap((part): unknown[] =>
    isObject(part) && typeof part["text"] === "string" ? part["text"].split("\n\n") : [part],
  );
}

function blockOf(section: Section, name: string, part: unknown): MarkedBlock {
  const owner = section === "messages" ? `${name} ` : "";
  return { section, name, text: `${owner}${JSON.stringify(part)}`, mark: undefined };
}

function toolName(tool: unknown): string {
  const about = isObject(tool) ? tool["function"] : undefined;
  const name = isObject(about) ? about["name"] : undefined;
  return typeof name === "string" ? name : "?";
}

const listIn = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
