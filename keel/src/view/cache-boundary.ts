/** The boundaries that a log declares, each with the first block that it made new. */
import { canonicalJson } from "../kernel/json.ts";
import { never } from "../kernel/never.ts";
import { type Boundary, boundariesOf } from "../protocol/boundary.ts";
import type { DurableEvent } from "../protocol/event.ts";
import type { ToolSpec } from "../protocol/tool.ts";

export type NamedBoundary = Boundary & { readonly block: string };

export type FixedPrompt = { readonly system: readonly string[]; readonly tools: readonly ToolSpec[] };

/** `before`: the prompt that was in force until now; the first one breaks nothing. */
export function namedBoundaries(event: DurableEvent, before: FixedPrompt | undefined): NamedBoundary[] {
  if (event.type === "prompt.fixed" && !before) return [];
  return boundariesOf(event).map((boundary) => ({ ...boundary, block: blockOf(boundary, event, before) }));
}

function blockOf({ what }: Boundary, event: DurableEvent, before: FixedPrompt | undefined): string {
  switch (what) {
    case "prompt":
      return event.type === "prompt.fixed" && before ? changedBlock(before, event) : "tool 1";
    case "thinking":
      return "thinking";
    case "messages":
      return "message 1";
    case "model":
      return "all";
    default:
      return never(what);
  }
}

/** In the order in which a provider reads: tools first. */
function changedBlock(before: FixedPrompt, after: FixedPrompt): string {
  const [old, now] = [before, after].map(({ tools, system }) => [
    ...tools.map((tool) => ({ name: `tool ${tool.name}`, text: canonicalJson(tool) })),
    ...system.map((text, index) => ({ name: `system ${index + 1}`, text })),
  ]);
  const at = now?.findIndex(({ text }, index) => old?.[index]?.text !== text) ?? -1;
  return (at >= 0 ? now?.[at]?.name : old?.[now?.length ?? 0]?.name) ?? "nothing";
}
