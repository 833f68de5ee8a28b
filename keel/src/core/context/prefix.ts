/**
 * The cache prefix of a request: what a provider compares from the start (tools, system, how to think, messages),
 * block by block, without cache marks. The request law and the simulated cache read requests through this.
 */
import { never } from "../../kernel/result.ts";
import type { ModelRequest } from "../../ports/model.ts";
import type { Section } from "../../protocol/boundary.ts";
import type { Block } from "../../protocol/message.ts";

export type PrefixBlock = {
  readonly section: Section;
  /** For a person: `tool Read`, `system 1`, `user text`. */
  readonly name: string;
  /** What is compared, byte by byte: keys in the order in which they are sent. */
  readonly text: string;
};

export type PrefixBreak = {
  /** Counts blocks from 0. */
  readonly index: number;
  readonly section: Section;
  readonly name: string;
  /** Both from a little before the place where they differ; empty where the block is missing. */
  readonly before: string;
  readonly after: string;
};

export function prefixOf(request: ModelRequest): PrefixBlock[] {
  return [
    ...request.tools.map((tool): PrefixBlock => block("tools", `tool ${tool.name}`, tool)),
    ...request.system.map((part, index): PrefixBlock => block("system", `system ${index + 1}`, part)),
    block("thinking", "thinking", { thinking: request.thinking, effort: request.effort }),
    ...request.messages.flatMap(({ role, content }) =>
      // Neighbours of one role are joined on the wire, so a block says whose it is and not in which message it stands.
      content.map((part): PrefixBlock => block("messages", `${role} ${part.type}`, { role, ...sent(part) })),
    ),
  ];
}

/** Where `after` stops to extend `before`; undefined when it extends it. */
export function firstBreak(
  before: readonly PrefixBlock[],
  after: readonly PrefixBlock[],
): PrefixBreak | undefined {
  const index = before.findIndex((known, at) => {
    const found = after[at];
    return !found || known.section !== found.section || known.text !== found.text;
  });
  if (index === -1) return undefined;
  const [old, now] = [before[index], after[index]];
  const shown = now ?? old;
  if (!shown) return undefined;
  const from = differsAt(old?.text ?? "", now?.text ?? "");
  return {
    index,
    section: old?.section ?? shown.section,
    name: old && now && old.name !== now.name ? `${old.name} became ${now.name}` : shown.name,
    before: excerpt(old?.text ?? "", from),
    after: excerpt(now?.text ?? "", from),
  };
}

function block(section: Section, name: string, content: unknown): PrefixBlock {
  return { section, name, text: JSON.stringify(content) };
}

/** What goes on the wire of a block, in one order of fields, whichever way the block was made. */
function sent(part: Block): object {
  switch (part.type) {
    case "text":
      return { text: part.text };
    case "image":
      return { mediaType: part.mediaType, data: part.data };
    case "document":
      return { mediaType: part.mediaType, data: part.data, name: part.name };
    case "thinking":
      return { thinking: part.text, signature: part.signature, hidden: part.hidden };
    case "tool_use":
      return { id: part.id, name: part.name, input: part.broken === undefined ? part.input : {} };
    case "tool_result":
      return { callId: part.callId, content: part.content.map(sent), failed: part.failed };
    case "foreign":
      return { provider: part.provider, data: part.data };
    default:
      return never(part);
  }
}

const excerptCharacters = 80;
const leadCharacters = 16;

function differsAt(left: string, right: string): number {
  let at = 0;
  while (at < left.length && left[at] === right[at]) at++;
  return at;
}

function excerpt(text: string, from: number): string {
  const start = Math.max(0, from - leadCharacters);
  const part = text.slice(start, start + excerptCharacters);
  return `${start > 0 ? "…" : ""}${part}${start + excerptCharacters < text.length ? "…" : ""}`;
}
