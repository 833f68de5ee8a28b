/** Conversations of Codex as logs of ours: what was said. Pure; what is not understood is left out. */
import { isObject } from "../../kernel/json.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import { text } from "../../protocol/message.ts";
import type { RawLine } from "../transcripts/index-transcript.ts";
import { LogBuilder, type OtherLine } from "../transcripts/to-events.ts";

export function codexEvents(
  lines: readonly OtherLine[],
  about: { readonly id: string; readonly cwd: string; readonly version: string },
): Durable[] {
  const builder = new LogBuilder({ ...about, model: "", prices: () => null });
  for (const line of lines) builder.take(line);
  builder.end();
  return builder.taken();
}

/** A line of a rollout of Codex: its messages alone. */
export function codexLine(raw: RawLine): OtherLine[] {
  const { type, payload } = raw;
  if (type !== "response_item" || !isObject(payload) || payload["type"] !== "message") return [];
  const at = Date.parse(String(raw["timestamp"])) || 0;
  const parts = Array.isArray(payload["content"]) ? payload["content"].filter(isObject) : [];
  const words = parts.flatMap((part) => (typeof part["text"] === "string" ? [part["text"]] : [])).join("\n");
  // What they tell the model about the place is not what a person said.
  if (words.trim() === "" || /^<(?:environment_context|user_instructions)/.test(words)) return [];
  if (payload["role"] === "user") return [{ kind: "said", content: [text(words)], at }];
  if (payload["role"] !== "assistant") return [];
  return [{ kind: "replied", id: `${at}`, model: "", content: [text(words)], at }];
}
