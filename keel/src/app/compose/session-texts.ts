/** All that a session is told and can call by name, put together: prompt, briefing, skills, commands, agents, styles. */
import { readGitHead } from "../../config/definitions/git-head.ts";
import { type InstructionFile, Instructions } from "../../config/definitions/instructions.ts";
import type { PromptFile } from "../../config/definitions/skills.ts";
import { type Paths, userHome } from "../../config/settings/paths.ts";
import type { SessionState } from "../../core/state/state.ts";
import type { SessionPorts } from "../../engine/step-context.ts";
import type { AgentProfile } from "../../ports/agent-definition.ts";
import type { Briefing } from "../../ports/briefing.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Workspace } from "../../ports/workspace.ts";
import type { AttachContext } from "../input/attach-mentions.ts";
import { type Registry, registryOf } from "../input/commands/registry.ts";
import type { OpenOptions } from "../options.ts";
import { builtInAgents } from "./built-in-agents.ts";
import { sessionBriefing } from "./instructions.ts";
import { type LibraryPort, libraryPort, modelSkills, readLibrary, type SessionLibrary } from "./library.ts";
import { mainAgent } from "./main-agent.ts";
import { chooseStyle, defaultStyle, styleNames } from "./output-styles.ts";
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
  }: {
    paths: Paths;
    inForce: SettingsInForce;
    workspace: Workspace;
    rules: SessionPorts["rules"];
    clock: Clock;
  },
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
    others.every((other) => other.name !== name);
