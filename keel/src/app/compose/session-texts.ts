/** All that a session is told and can call by name, put together: prompt, briefing, skills, commands, agents, styles. */
import { agentNamed } from "../../agents/plan.ts";
import { hasTool } from "../../agents/rights.ts";
import { readGitHead } from "../../config/definitions/git-head.ts";
import { type InstructionFile, Instructions } from "../../config/definitions/instructions.ts";
import type { OutputStyle, PromptFile } from "../../config/definitions/library-files.ts";
import { type Paths, userHome } from "../../config/settings/paths.ts";
import type { SessionState } from "../../core/state/state.ts";
import type { SessionPorts } from "../../engine/step-context.ts";
import { fault } from "../../kernel/fault.ts";
import type { AgentProfile } from "../../ports/agent-definition.ts";
import type { Briefing } from "../../ports/briefing.ts";
import type { ToolHead } from "../../ports/tool.ts";
import type { AttachContext } from "../input/attach-mentions.ts";
import { type Registry, registryOf } from "../input/commands/registry.ts";
import type { OpenOptions } from "../options.ts";
import { sessionBriefing } from "./instructions.ts";
import { type LibraryPort, libraryPort, modelSkills, readLibrary, type SessionLibrary } from "./library.ts";
import { locationSection, systemPrompt } from "./prompts.ts";
import { sessionPolicy } from "./session-policy.ts";
import type { SettingsInForce } from "./settings.ts";

/** What comes from files is as it was read last. */
export type SessionTexts = {
  readonly library: SessionLibrary;
  /** What the Skill tool reads through. */
  readonly port: LibraryPort;
  readonly registry: Registry;
  /** The names of the skills that the model is offered. */
  readonly skillNames: readonly string[];
  /** The kinds of agents that there are, those of files included. */
  readonly agents: readonly AgentProfile[];
  /** The kind of agent that the session itself is. */
  readonly main: AgentProfile | undefined;
  readonly style: { readonly name: string; readonly all: readonly string[] };
  readonly system: readonly string[];
  readonly problems: readonly string[];
  /** Names what is offered to the model, once the tools are known. */
  briefing(tools: readonly { readonly name: string }[]): Briefing;
  /** Reads commands, skills, agents, styles and the list of plugins once more. */
  reload(): Promise<void>;
  instructions(): Promise<readonly InstructionFile[]>;
  /** What a person's words are read with. */
  attachContext(state: () => SessionState | undefined): AttachContext;
};

export async function sessionTexts(
  options: OpenOptions,
  {
    paths,
    inForce,
    workspace,
    rules,
    clock,
  }: Pick<SessionPorts, "workspace" | "rules" | "clock"> & { paths: Paths; inForce: SettingsInForce },
): Promise<SessionTexts> {
  const { trust, settings } = inForce;
  const chosen = options.settingSources;
  const { plugins, skills } = options;
  const read = async () =>
    shelfOf(await readLibrary({ paths, cwd: workspace.cwd, trust, chosen, plugins, skills }), options);
  let shelf = await read();
  const main = mainAgent(options.agent, shelf.agents);
  const { style, problem } = chooseStyle(settings.outputStyle, shelf.library.styles);
  const attachWorld = (state: () => SessionState | undefined): AttachContext => ({
    workspace,
    policy: sessionPolicy({ rules, workspace }, state),
    get agents() {
      return shelf.agents.map(({ name }) => name);
    },
  });
  const files = new Instructions({
    paths,
    userHome: userHome(options.env),
    trust,
    // Looked up each time: folders come and go.
    get roots() {
      return workspace.roots;
    },
    chosen,
    mayRead: async (file) => (await sessionPolicy({ rules, workspace }, () => undefined).mayReadOwn(file)).ok,
  });
  const place = { cwd: workspace.cwd, roots: workspace.roots, platform: process.platform };
  const isElsewhere = options.placeInPrompt === "no";
  return {
    get library() {
      return shelf.library;
    },
    get registry() {
      return shelf.registry;
    },
    get skillNames() {
      return shelf.offered.map(({ name }) => name);
    },
    get agents() {
      return shelf.agents;
    },
    get style() {
      return { name: style?.name ?? defaultStyle, all: styleNames(shelf.library.styles) };
    },
    async reload() {
      shelf = await read();
    },
    port: libraryPort(() => shelf.offered, attachWorld),
    main,
    system: systemPrompt({
      ...place,
      style,
      replace: options.systemPrompt ?? main?.prompt,
      append: options.appendSystemPrompt,
      location: isElsewhere ? "elsewhere" : "here",
    }),
    problems: [...shelf.library.problems, ...(problem === undefined ? [] : [problem])],
    briefing: (tools) =>
      sessionBriefing({
        instructions: files,
        skills: () => (tools.some(({ name }) => name === "Skill") ? shelf.offered : []),
        now: () => clock.now(),
        gitHead: () => readGitHead(trust.root),
        location: isElsewhere ? locationSection(place) : undefined,
      }),
    instructions: () => files.start(),
    attachContext: attachWorld,
  };
}

type LoadedTexts = {
  readonly library: SessionLibrary;
  readonly agents: readonly AgentProfile[];
  readonly registry: Registry;
  /** Skills that the model may call. */
  readonly offered: readonly PromptFile[];
};

function shelfOf(library: SessionLibrary, { agents: given = [], skills }: OpenOptions): LoadedTexts {
  const named = [...given, ...library.agents.filter(isNotIn(given))];
  return {
    library,
    agents: [...named, ...builtInAgents.filter(isNotIn(named))],
    registry: registryOf(library),
    offered: modelSkills(library, skills),
  };
}

const isNotIn =
  (others: readonly AgentProfile[]) =>
  ({ name }: AgentProfile): boolean =>
    agentNamed(others, name) === undefined;

/** The kinds of agents that every session has. A file or a program that names one of them takes its place. */
const report = `You were given this work by another agent, which sees nothing of what you do but your last message. Write that message for it: the result first, then what it needs to go on, with exact paths, names and figures. Say plainly what you could not find or do. Ask nobody; where something is left open, take the simpler way and say which one you took.`;

/** What reads, searches and asks the web, and nothing that changes anything. */
const readingTools = ["Glob", "Grep", "Read", "ToolSearch", "WebFetch", "WebSearch"] as const;

export const builtInAgents: readonly AgentProfile[] = [
  {
    name: "general-purpose",
    description:
      "Works on a task of several steps on its own, with the tools of this session: to look into something wide, or to carry out a change that can be told apart.",
    prompt: `You work on one task and then report.\n\n${report}`,
    from: "built-in",
  },
  {
    name: "explore",
    description:
      "Finds its way through files and answers where something is or how it works. Only reads. Say what to look for and how thorough to be.",
    prompt: `You find things in files and explain them. You change nothing: no file is written, no command is run. Search wide first and read narrowly then, several searches at once where they do not depend on each other.\n\n${report}`,
    tools: readingTools,
    from: "built-in",
  },
  {
    name: "plan",
    description:
      "Thinks a change through before it is made: reads what is there and returns the steps, the files they touch, and what could go wrong. Only reads.",
    prompt: `You plan a change that others will make. You change nothing yourself. Read until you know how the parts that matter work today, then write the plan: the steps in their order, for each the files and names it touches, what must hold afterwards and how that is checked, and the risks that you see. Prefer the smallest change that does the whole of what was asked.\n\n${report}`,
    tools: readingTools,
    from: "built-in",
  },
  {
    name: "fork",
    description:
      "A copy of yourself that knows all of this conversation and does one part of the work on its own. Cheap to start, since nothing has to be told or read again.",
    prompt: "",
    inherits: "conversation",
    from: "built-in",
  },
];

/** Throws `usage` for a kind that there is not. */
export function mainAgent(
  name: string | undefined,
  known: readonly AgentProfile[],
): AgentProfile | undefined {
  if (name === undefined) return undefined;
  const found = agentNamed(known, name);
  if (!found) throw fault("usage", { reason: `There is no agent called ${JSON.stringify(name)}.` });
  return found;
}

export const toolsOfMain = (
  agent: AgentProfile | undefined,
  tools: readonly ToolHead[],
): readonly ToolHead[] => (agent ? tools.filter((tool) => hasTool(agent, tool)) : tools);

export const defaultStyle = "default";

export const builtInStyles: readonly OutputStyle[] = [
  {
    name: "brief",
    description: "As few words as possible.",
    text: `# Your answers
- The result alone, in one to three lines; no introduction and no closing words.
- A list only where there is one. Code only where it was asked for.`,
    keepsWork: true,
  },
  {
    name: "teaching",
    description: "Also says why, for somebody who learns.",
    text: `# Your answers
- Answer in the person's language, beginning with the result.
- Then say in a few sentences why it is done this way and which other ways there are, tied to the code at hand.
- Where a small part would teach something, leave it to the person: say what is to be written, where, and how they can tell that it is right.`,
    keepsWork: true,
  },
];

/** Undefined is the default, which is part of the prompt itself. A sentence for a name that nobody has. */
export function chooseStyle(
  wanted: string | undefined,
  fromFolders: readonly OutputStyle[],
): { readonly style: OutputStyle | undefined; readonly problem?: string } {
  if (wanted === undefined || wanted.toLowerCase() === defaultStyle) return { style: undefined };
  const all = [...fromFolders, ...builtInStyles];
  const style =
    all.find(({ name }) => name === wanted) ??
    all.find(({ name }) => name.toLowerCase() === wanted.toLowerCase());
  if (style) return { style };
  const names = [defaultStyle, ...all.map(({ name }) => name)].join(", ");
  return {
    style: undefined,
    problem: `There is no output style called ${JSON.stringify(wanted)}. There are: ${names}.`,
  };
}

/** All names, as a host may list them. */
export const styleNames = (fromFolders: readonly OutputStyle[]): string[] => [
  ...new Set([
    defaultStyle,
    ...builtInStyles.map(({ name }) => name),
    ...fromFolders.map(({ name }) => name),
  ]),
];
