/** The facts of an open session, as they are whenever somebody looks. */
import type { SessionState } from "../../core/state/state.ts";
import { isAwaited, isRunning } from "../../core/state/task-state.ts";
import type { CommandInfo, RunningTask, SessionFacts } from "../../protocol/inquiry.ts";
import type { McpPrompt } from "../../protocol/mcp.ts";
import { guardMode } from "../compose/home-resources.ts";
import type { OpenModel, WishPlace } from "../compose/model.ts";
import type { SessionComposition } from "../compose/session-composition.ts";
import { infoOf } from "../input/commands/registry.ts";

export const namesOf = ({ parts }: SessionComposition): string[] =>
  [...parts.tools, ...(parts.toolbox?.tools() ?? [])].map(({ name }) => name);

export function factsOf(composition: SessionComposition, { facts, catalog }: OpenModel): SessionFacts {
  const { parts, permissionMode, env, settings, trust, texts } = composition;
  const names = [facts.model, ...parts.limits.fallbackModels];
  return {
    cwd: parts.workspace.cwd,
    get roots() {
      return parts.workspace.roots;
    },
    model: facts.model,
    provider: facts.provider,
    keySource: facts.keySource,
    permissionMode,
    tools: namesOf(composition),
    // What comes from files and servers is as it is whenever somebody looks.
    get agents() {
      return texts.agents.map(({ name, description, model }) => ({ name, description, model }));
    },
    get commands() {
      return commandsNow(composition);
    },
    get skills() {
      return texts.skillNames;
    },
    get plugins() {
      return texts.library.plugins.map(({ name, path, version }) => ({
        name,
        path,
        ...(version === undefined ? {} : { version }),
      }));
    },
    get outputStyle() {
      return texts.style;
    },
    models: Object.fromEntries(names.map((name) => [name, catalog.info(name)])),
    ...(parts.memory ? { memoryFolder: parts.memory.place } : {}),
    guard: guardMode(env, settings),
    trust: {
      root: trust.root,
      state: trust.state,
      leftOut: trust.waiting.map(({ path }) => path.join(".")),
    },
  };
}

/** Everything that can be called with a slash now: what was read, and the prompts of servers that are there. */
export const commandsNow = ({
  texts,
  mcp,
  brought: { extensions },
}: Pick<SessionComposition, "texts" | "mcp" | "brought">): CommandInfo[] =>
  [
    ...texts.registry.listed,
    // A file of that name is what the name calls.
    ...(extensions?.commands ?? []).filter(({ name }) => texts.registry.find(name) === undefined),
    ...mcp.control.prompts().map(infoOfPrompt),
  ].toSorted((one, other) => (one.name < other.name ? -1 : 1));

function infoOfPrompt({ command, description, arguments: wanted }: McpPrompt): CommandInfo {
  const argumentHint = wanted.map(({ name }) => `[${name}]`).join(" ");
  return infoOf({ name: command, description, argumentHint }, { kind: "prompt", source: "mcp" });
}

/** Work in the background, as hosts see it. */
export function runningTasks({ tasks }: SessionState): RunningTask[] {
  return [...tasks.values()].filter(isRunning).map((task) => ({
    id: task.id,
    description: task.data.description ?? task.id,
    reports: isAwaited(task),
  }));
}

/** What counts when somebody wants something of the model. */
export const wishPlace = (
  composition: SessionComposition,
  { state }: { readonly state: SessionState },
): WishPlace => ({
  now: state.settings,
  tools: namesOf(composition).length > 0 ? "some" : "none",
});
