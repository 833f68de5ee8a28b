/** The cache prefix of a body of the Messages wire, and where it is marked. It comes from outside: any shape is read. */

import { isObject } from "../../kernel/json.ts";
import type { Section } from "../../protocol/boundary.ts";
import type { CacheMark } from "../request-view.ts";
import type { MarkedBlock } from "./wire.ts";

export function messagesPrefix(body: unknown): MarkedBlock[] {
  const fields = isObject(body) ? body : {};
  const { thinking, output_config, tool_choice } = fields;
  return [
    ...listIn(fields["tools"]).map((tool) => blockOf("tools", `tool ${nameIn(tool, "name")}`, tool)),
    ...contentIn(fields["system"]).map((part, index) => blockOf("system", `system ${index + 1}`, part)),
    blockOf("thinking", "thinking", { thinking, output_config, tool_choice }),
    ...listIn(fields["messages"]).flatMap((message) => {
      const { role, content } = isObject(message) ? message : {};
      return contentIn(content).map((part) =>
        blockOf("messages", `${String(role)} ${nameIn(part, "type")}`, part),
      );
    }),
  ];
}

/** Whose request it is, if it says so: our own adapter names the session. */
export function messagesSession(body: unknown): string | undefined {
  const metadata = isObject(body) ? body["metadata"] : undefined;
  const id = isObject(metadata) ? metadata["user_id"] : undefined;
  return typeof id === "string" && id !== "" ? id : undefined;
}

function blockOf(section: Section, name: string, part: unknown): MarkedBlock {
  const inner = isObject(part) ? listIn(part["content"]) : [];
  const marks = [part, ...inner].flatMap((block) => markOf(block) ?? []);
  // Whose block it is belongs to what is compared; in which message it stands does not.
  const owner = section === "messages" ? `${name} ` : "";
  return { section, name, text: `${owner}${JSON.stringify(unmarked(part))}`, mark: marks[0] };
}

/** A result may be marked inside; deeper down, and in schemas and inputs, the word is only a word. */
function unmarked(part: unknown): unknown {
  if (!isObject(part)) return part;
  const { cache_control: _, ...rest } = part;
  return Array.isArray(rest["content"]) ? { ...rest, content: rest["content"].map(unmarked) } : rest;
}

/** A text stands for a list of one text block. */
function contentIn(content: unknown): unknown[] {
  if (typeof content !== "string") return listIn(content);
  return content === "" ? [] : [{ type: "text", text: content }];
}

function markOf(block: unknown): CacheMark {
  const mark = isObject(block) ? block["cache_control"] : undefined;
  if (!isObject(mark)) return undefined;
  return mark["ttl"] === "1h" ? "1h" : "5m";
}

const listIn = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

function nameIn(value: unknown, field: string): string {
  const name = isObject(value) ? value[field] : undefined;
  return typeof name === "string" ? name : "?";
}
