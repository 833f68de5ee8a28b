/** Defines a tool. What is left out is the careful choice. */

import type { Json } from "../kernel/json.ts";
import { carefulTraits } from "../policy/modes.ts";
import type { Tool, ToolTraits } from "../ports/tool.ts";
import type { ToolSpec } from "../protocol/tool.ts";

/** Undefined for an input that does not fit, and for a tool that fails over it: the call itself then says so. */
export function traitsOf(tool: Tool, sent: Json): ToolTraits | undefined {
  try {
    const parsed = tool.input.parse(sent);
    return parsed.ok ? tool.traits(parsed.value) : undefined;
  } catch {
    return undefined;
  }
}

export type ToolDefinition<I> = Pick<Tool<I>, "name" | "description" | "input" | "run"> & {
  readonly aliases?: readonly string[];
  readonly resultCharacters?: number;
  readonly deferred?: boolean;
  readonly traits?: Partial<ToolTraits> | ((input: I) => Partial<ToolTraits>);
  readonly claims?: Tool<I>["claims"];
  readonly check?: Tool<I>["check"];
};

export function defineTool<I>(definition: ToolDefinition<I>): Tool<I> {
  const { name, description, input, traits, claims, check } = definition;
  let spec: ToolSpec | undefined;
  return {
    name,
    aliases: definition.aliases ?? [],
    deferred: definition.deferred ?? false,
    description,
    input,
    // Made at the first request: a schema in JSON takes its time.
    get spec() {
      spec ??= { name, description, input: input.json };
      return spec;
    },
    ...(definition.resultCharacters === undefined ? {} : { resultCharacters: definition.resultCharacters }),
    traits: (given) => ({ ...carefulTraits, ...(typeof traits === "function" ? traits(given) : traits) }),
    claims: claims ?? (async () => [{ action: "use", target: name }]),
    check: check ?? (async () => undefined),
    run: definition.run,
  };
}
