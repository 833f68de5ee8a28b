/** What of an event is worth finding again: what a person said, what the agent answered, what tools gave back. */
import type { MemorySource } from "../ports/memory-index.ts";
import type { Durable } from "../protocol/event/durable.ts";

export type Said = { readonly source: MemorySource; readonly text: string };

export function saidIn(event: Durable): Said | undefined {
  if (event.type === "input.accepted")
    return event.input.from.kind === "person"
      ? { source: { kind: "person" }, text: textsOf(event.input.content) }
      : undefined;
  if (event.type === "model.finished") return { source: { kind: "agent" }, text: textsOf(event.content) };
  if (event.type !== "tool.finished" || event.denied || event.invalid || event.deferred) return undefined;
  return { source: { kind: "tool", tool: event.tool }, text: textsOf(event.content) };
}

const textsOf = (blocks: readonly { readonly type: string; readonly text?: unknown }[]): string =>
  blocks
    .flatMap(({ type, text }) => (type === "text" && typeof text === "string" ? [text] : []))
    .join("\n\n");
