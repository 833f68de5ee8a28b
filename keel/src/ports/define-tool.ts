/** Defines a tool. What is left out is the careful choice. */

import { present } from "../kernel/json.ts";
import type { ToolFamily, ToolSpec } from "../protocol/tool.ts";
import type { Tool, ToolTraits } from "./tool.ts";

export type ToolDefinition<I> = Pick<Tool<I>, "name" | "description" | "input" | "run"> &
  Pick<Tool<I>, "output" | "searchHint" | "enabled" | "runsPrograms"> & {
    readonly aliases?: readonly string[];
    readonly family?: ToolFamily;
    readonly resultCharacters?: number;
    readonly deferred?: boolean;
    readonly traits?: Partial<ToolTraits> | ((input: I) => Partial<ToolTraits>);
    readonly claims?: Tool<I>["claims"];
    readonly check?: Tool<I>["check"];
    readonly preview?: Tool<I>["preview"];
  };

export function defineTool<I>(definition: ToolDefinition<I>): Tool<I> {
  const { name, description, input, output, searchHint, enabled, traits, claims, check } = definition;
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
    ...present({ output, searchHint, enabled, family: definition.family }),
    ...(definition.resultCharacters === undefined ? {} : { resultCharacters: definition.resultCharacters }),
    ...(definition.runsPrograms ? { runsPrograms: true } : {}),
    traits: (given) => ({ ...carefulTraits, ...(typeof traits === "function" ? traits(given) : traits) }),
    claims: claims ?? (async () => [{ action: "use", target: name }]),
    check: check ?? (async () => undefined),
    ...(definition.preview ? { preview: definition.preview } : {}),
    run: definition.run,
    /** Whoever spreads a tool to change a part of it loads what was changed. */
    async load() {
      return this as Tool;
    },
  };
}

/** Fail closed: what a tool does not say is read as "changes things, runs alone, never again, ask first". */
export const carefulTraits: ToolTraits = { readOnly: false, concurrent: false, replay: "never" };
