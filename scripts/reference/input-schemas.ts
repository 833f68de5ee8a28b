// The input schemas of the built-in tools as JSON, for keel/src/tools/input-schemas.ts.
import { builtInTools, type ToolPorts } from "../../keel/src/tools/catalog.ts";

const absent = (): never => {
  throw new Error("not called here");
};

/** All ports, so that no tool is missing; nothing of them is called. */
export const everyPort: ToolPorts = {
  web: { address: absent, fetch: absent },
  search: { missing: absent, search: absent },
  library: { skills: absent, readSkill: absent },
  agents: { kinds: absent, start: absent, send: absent },
  worktrees: { current: absent, enter: absent, exit: absent },
  memory: { place: "", index: absent, recall: absent, remember: absent },
};

export function inputSchemasFile(): string {
  const schemas = builtInTools(everyPort).map(({ name, input }) => [name, input.toJson?.()]);
  return `/**
 * What the model is told about the input of each built-in tool: written by \`npm run reference\` from their schemas, so
 * that a first request need not wait until it is made. The check fails while it is stale.
 */
import type { JsonObject } from "../kernel/json.ts";

// biome-ignore format: one line for each, as they are made
export const inputSchemas = {
${schemas.map(([name, json]) => `  ${name}: ${JSON.stringify(json)},`).join("\n")}
} as const satisfies Record<string, JsonObject>;
`;
}
