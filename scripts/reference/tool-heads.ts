// What requests say of the built-in tools, as data, for keel/src/tools/heads.ts.
import { type ToolPorts, toolLoaders } from "../../keel/src/tools/catalog.ts";

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

export async function toolHeadsFile(): Promise<string> {
  const tools = await Promise.all(Object.values(toolLoaders(everyPort)).map((load) => load()));
  const rows = tools
    .sort((left, right) => (left.name < right.name ? -1 : 1))
    .map(({ name, aliases, description, deferred, resultCharacters, input }) => {
      const row = { name, aliases, description, deferred, resultCharacters, input: input.toJson?.() };
      return [name, row] as const;
    });
  return `/**
 * What requests say of the built-in tools: written by \`npm run reference\` from their definitions, so that a first
 * request waits neither for their code nor for their schemas. The check fails while it is stale.
 */
import type { JsonObject } from "../kernel/json.ts";
import type { ToolHead } from "../ports/tool.ts";

type HeadRow = Omit<ToolHead, "load" | "spec"> & { readonly input: JsonObject };

const head = (row: HeadRow): HeadRow & Pick<ToolHead, "spec"> => ({
  ...row,
  spec: { name: row.name, description: row.description, input: row.input },
});

// biome-ignore format: one line for each, as they are made
export const toolHeads = {
${rows.map(([name, row]) => `  ${name}: head(${JSON.stringify(row)}),`).join("\n")}
};
`;
}
