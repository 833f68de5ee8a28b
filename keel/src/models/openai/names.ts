/** Names of tools and ids of calls as the chat wire takes them. */
import { fingerprint } from "../../kernel/text.ts";
import type { ToolSpec } from "../../protocol/tool.ts";
import { type IdRule, wireId } from "../encoding.ts";

const maxNameCharacters = 64;

/** Longer ids are refused, and those of other providers are often longer. */
const idRule: IdRule = { allowed: /./s, maxCharacters: 40 };

export const callId = (id: string): string => wireId(id, idRule);

/** Tools of MCP servers may have longer names than this wire takes: their end is replaced by a mark of the whole. */
export function toolName(name: string): string {
  if (name.length <= maxNameCharacters) return name;
  const mark = fingerprint(name);
  return `${name.slice(0, maxNameCharacters - mark.length - 1)}_${mark}`;
}

/** The way back, for the tools of a request. */
export function toolNames(tools: readonly ToolSpec[]): (wire: string) => string {
  const long = tools.filter(({ name }) => name.length > maxNameCharacters);
  if (long.length === 0) return (wire) => wire;
  const names = new Map(long.map(({ name }) => [toolName(name), name]));
  return (wire) => names.get(wire) ?? wire;
}
