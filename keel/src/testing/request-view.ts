/** One look at a request, whichever form it has: what the rules, the layout and the conditions of a script read. */
import { asList } from "../kernel/json.ts";
import type { ThinkingMode } from "../protocol/settings.ts";

export type RequestView = {
  readonly model: string;
  readonly system: readonly SystemView[];
  readonly tools: readonly ToolView[];
  readonly messages: readonly MessageView[];
  /** As it came, since a rule judges it. */
  readonly maxTokens: unknown;
  readonly thinking: ThinkingMode;
  /** The tool that must be called, `*` for any, undefined when the model is free. */
  readonly forcedTool: string | undefined;
  /** What could not be read at all. */
  readonly problems: readonly string[];
};

export type SystemView = { readonly text: string; readonly cache?: CacheMark };
export type ToolView = {
  readonly name: string;
  readonly schema: unknown;
  readonly description: string;
  readonly cache?: CacheMark;
};
export type MessageView = { readonly role: string; readonly blocks: readonly BlockView[] };

/** How long the provider is asked to keep the prefix that ends here. */
export type CacheMark = "5m" | "1h" | undefined;

export type SourceView =
  | { readonly kind: "base64"; readonly mediaType: string; readonly data: string }
  | { readonly kind: "text"; readonly data: string }
  | { readonly kind: "reference" };

export type BlockView = { readonly cache?: CacheMark } & (
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image" | "document"; readonly source: SourceView }
  | { readonly type: "thinking"; readonly text: string; readonly signed: boolean; readonly hidden: boolean }
  | { readonly type: "tool_use"; readonly id: string; readonly name: string; readonly input: unknown }
  | {
      readonly type: "tool_result";
      readonly id: string;
      readonly content: readonly BlockView[];
      readonly failed: boolean;
    }
  /** Something that only the provider understands. */
  | { readonly type: "other"; readonly name: string }
);

/** A list of a body; what is none is told, unless it is absent. */
export function readList(value: unknown, path: string, problems: string[]): unknown[] {
  if (value !== undefined && !Array.isArray(value)) problems.push(`${path} is not a list`);
  return asList(value);
}

/** The plain text of blocks, without what stands in tool results. */
export function plainText(blocks: readonly BlockView[]): string {
  return blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

export function resultText(blocks: readonly BlockView[]): string {
  return blocks
    .flatMap((block) => (block.type === "tool_result" ? [plainText(block.content)] : []))
    .join("\n");
}

/** Neighbours of one role as one message, as the provider takes them. */
export function joinTurns(messages: readonly MessageView[]): MessageView[] {
  const turns: { role: string; blocks: BlockView[] }[] = [];
  for (const { role, blocks } of messages) {
    const last = turns.at(-1);
    if (last?.role === role) last.blocks.push(...blocks);
    else turns.push({ role, blocks: [...blocks] });
  }
  return turns;
}
