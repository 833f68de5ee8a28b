/** Which tools a session offers: a preset or a list of names over the built-in ones, then others, in a stable order. */
import { toolSearchName } from "../core/toolbox.ts";
import type { ToolHead } from "../ports/tool.ts";
import type { ToolPreset } from "../protocol/options.ts";

/** A preset, or the built-in tools by name. */
export type ToolChoice = ToolPreset | readonly string[];

export type ToolSetOptions = {
  readonly builtIn: readonly ToolHead[];
  /** Tools of others, such as MCP servers. */
  readonly foreign?: readonly ToolHead[] | undefined;
  readonly choice?: ToolChoice | undefined;
  /** `some`: more may come while the session runs, and are then loaded by name. */
  readonly late?: "some" | "none" | undefined;
  /** Whether somebody is there who answers questions. */
  readonly asks: "answered" | "refused";
  /** The one list of what is to be done, in its present form or in its older one. */
  readonly list: "tasks" | "todos";
};

export type ChosenTools = {
  readonly tools: readonly ToolHead[];
  /** Names that were wished for and that no tool has. */
  readonly unknown: readonly string[];
};

const onlyReading = ["Glob", "Grep", "Read", "WebFetch", "WebSearch"];
const restricted: Readonly<Partial<Record<ToolPreset, readonly string[]>>> = {
  "read-only": onlyReading,
  "safe-edit": ["Edit", ...onlyReading],
  // It gives work and does none; its agents have the tools.
  coordinator: ["Agent", "SendMessage", "TaskStop"],
};
const taskTools = ["TaskCreate", "TaskGet", "TaskList", "TaskUpdate"];

export function chooseTools(options: ToolSetOptions): ChosenTools {
  const { builtIn, foreign = [], choice = "full", asks, list, late } = options;
  const isNamed = typeof choice !== "string";
  const names = isNamed ? choice : restricted[choice];
  const left = new Set([
    ...(choice === "no-bash" ? ["Bash"] : []),
    ...(list === "tasks" ? ["TodoWrite"] : taskTools),
  ]);
  const own = names
    ? builtIn.filter((tool) => names.some((name) => isCalled(tool, name)))
    : builtIn.filter(({ name, family }) => !left.has(name) && (asks === "answered" || family !== "person"));
  const others = offersForeign(choice) ? foreign : [];
  const chosen = [...own.toSorted(byName), ...withoutDoubles(builtIn, others).toSorted(byName)];
  return {
    tools: isNamed ? chosen.map(offeredAtOnce) : late === "some" ? chosen : withSearch(chosen),
    unknown: isNamed ? choice.filter((name) => !builtIn.some((tool) => isCalled(tool, name))) : [],
  };
}

/** What a server's tool does is the server's word: a preset that promises something does not offer it. */
export const offersForeign = (choice: ToolChoice = "full"): boolean =>
  typeof choice !== "string" || restricted[choice] === undefined;

/** A built-in tool keeps its name, also one that this session does not offer: a server must not pass for it. */
function withoutDoubles(builtIn: readonly ToolHead[], foreign: readonly ToolHead[]): ToolHead[] {
  const taken = new Set(builtIn.flatMap(({ name, aliases }) => [name, ...aliases]));
  return foreign.filter(({ name }) => {
    const isFree = !taken.has(name);
    taken.add(name);
    return isFree;
  });
}

/** Loading is offered where there is something to load. */
const withSearch = (tools: readonly ToolHead[]): readonly ToolHead[] =>
  tools.some(({ deferred }) => deferred) ? tools : tools.filter(({ name }) => name !== toolSearchName);

/** Who names a tool wants it now. */
const offeredAtOnce = (tool: ToolHead): ToolHead => (tool.deferred ? { ...tool, deferred: false } : tool);

const isCalled = ({ name, aliases }: ToolHead, wanted: string): boolean =>
  name === wanted || aliases.includes(wanted);

/** By code units: the same order on every machine. */
export const byName = (left: ToolHead, right: ToolHead): number =>
  left.name < right.name ? -1 : left.name > right.name ? 1 : 0;
