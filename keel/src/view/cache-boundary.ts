/** The boundaries that a log declares: after each of them a request may begin differently from the one before it. */
import { canonicalJson } from "../kernel/json.ts";
import type { DurableEvent } from "../protocol/event.ts";
import type { ToolSpec } from "../protocol/tool.ts";

export type Boundary = {
  readonly what: "prompt" | "thinking" | "messages" | "model";
  /** The event's own word for it. */
  readonly why: string;
  /** The first block that it changed. */
  readonly block: string;
};

export type Prompt = { readonly system: readonly string[]; readonly tools: readonly ToolSpec[] };

/** `before`: the prompt that was in force until now. */
export function boundariesOf(event: DurableEvent, before: Prompt | undefined): Boundary[] {
  switch (event.type) {
    case "prompt.fixed":
      return before ? [{ what: "prompt", why: event.why, block: changedBlock(before, event) }] : [];
    case "context.compacted":
      return [{ what: "messages", why: `compacted (${event.trigger})`, block: "message 1" }];
    case "context.cleared":
      return [{ what: "messages", why: "cleared", block: "message 1" }];
    case "settings.changed":
      return settingBoundaries(event);
    default:
      return [];
  }
}

function settingBoundaries({ patch, why }: Extract<DurableEvent, { type: "settings.changed" }>): Boundary[] {
  const found: Boundary[] = [];
  if (patch.model !== undefined) found.push({ what: "model", why, block: "all" });
  if (patch.thinking || patch.effort) found.push({ what: "thinking", why, block: "thinking" });
  return found;
}

/** In the order in which a provider reads: tools first. */
function changedBlock(before: Prompt, after: Prompt): string {
  const [old, now] = [before, after].map(({ tools, system }) => [
    ...tools.map((tool) => ({ name: `tool ${tool.name}`, text: canonicalJson(tool) })),
    ...system.map((text, index) => ({ name: `system ${index + 1}`, text })),
  ]);
  const at = now?.findIndex(({ text }, index) => old?.[index]?.text !== text) ?? -1;
  return (at >= 0 ? now?.[at]?.name : old?.[now?.length ?? 0]?.name) ?? "nothing";
}
