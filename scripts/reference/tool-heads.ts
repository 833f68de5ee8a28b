// What requests say of the built-in tools, as data, for keel/src/tools/heads.ts.
import type { ToolFamily } from "../../keel/src/protocol/tool.ts";
import { type ToolPorts, toolLoaders } from "../../keel/src/tools/catalog.ts";

const absent = (): never => {
  throw new Error("not called here");
};

/** All ports, so that no tool is missing; nothing of them is called. */
export const everyPort: ToolPorts = {
  web: { address: absent, fetch: absent },
  search: { missing: absent, search: absent },
  library: { skills: absent, readSkill: absent },
  agents: { kinds: absent, start: absent, send: absent, team: absent },
  worktrees: { current: absent, enter: absent, exit: absent },
  memory: { place: "", index: absent, recall: absent, remember: absent },
  schedules: { add: absent, list: absent, cancel: absent, entries: absent },
  terminals: { start: absent, find: absent, list: absent, close: absent },
  programs: { run: absent },
};

const everyTool = () => Promise.all(Object.values(toolLoaders(everyPort)).map((load) => load()));

export async function toolHeadsFile(): Promise<string> {
  const tools = await everyTool();
  const rows = tools
    .sort((left, right) => (left.name < right.name ? -1 : 1))
    .map(({ name, aliases, family, description, deferred, resultCharacters, input }) => {
      const row = { name, aliases, family, description, deferred, resultCharacters, input: input.toJson?.() };
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

/** Tools of other programs, which rules may name: what is denied to their kind is denied by their name, too. */
const elsewhere: readonly (readonly [string, ToolFamily])[] = [
  ["LS", "reads"],
  ["NotebookRead", "reads"],
];

/** Those of the desktop, which are no part of the catalog: rules about files and commands hold for them all the same. */
const desktop: readonly (readonly [string, ToolFamily])[] = (
  [
    ["list_files", "reads"],
    ["read_file", "reads"],
    ["search_files", "reads"],
    ["analyze_image", "reads"],
    ["write_file", "edits"],
    ["run_shell_command", "shell"],
  ] as const
).map(([name, family]) => [`mcp__desktop-assistant-tools__${name}`, family]);

export async function toolFamiliesFile(): Promise<string> {
  const tools = (await everyTool()).sort((left, right) => (left.name < right.name ? -1 : 1));
  const names = tools.map(({ name }) => name);
  const older = tools.flatMap(({ name, aliases }) => aliases.map((alias) => [alias, name]));
  const ours = tools.flatMap(({ name, aliases, family }) =>
    family === undefined ? [] : [name, ...aliases].map((each) => [each, family] as const),
  );
  const rows = [...ours, ...elsewhere, ...desktop].sort(([left], [right]) => (left < right ? -1 : 1));
  return `/** The built-in tools by name, for rules, logs and programs that name one: written by \`npm run reference\` from their definitions. */
import type { ToolFamily } from "./tool.ts";

// biome-ignore format: as it is made
export const toolNames = ${JSON.stringify(names)} as const;

/** Older names under which a tool can still be called. */
// biome-ignore format: as it is made
export const toolAliases: Readonly<Record<string, string>> = ${JSON.stringify(Object.fromEntries(older))};

// biome-ignore format: as it is made
const families: Readonly<Record<string, ToolFamily>> = ${JSON.stringify(Object.fromEntries(rows))};

export const familyOf = (tool: string): ToolFamily | undefined =>
  Object.hasOwn(families, tool) ? families[tool] : undefined;
`;
}
