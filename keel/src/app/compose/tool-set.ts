/** The tools of a session: the built-in ones over their ports, by preset or name, without what rules deny outright. */
import type { EnvironmentVariables } from "../../config/settings/paths.ts";
import type { KeelSettings } from "../../config/settings/settings-schema.ts";
import type { Rules } from "../../policy/decide.ts";
import type { LiveTerminals } from "../../ports/live-terminals.ts";
import type { Programs } from "../../ports/programs.ts";
import type { Schedules } from "../../ports/schedules.ts";
import type { Toolbox, ToolHead } from "../../ports/tool.ts";
import { builtInTools, type ToolPorts } from "../../tools/catalog.ts";
import { chooseTools } from "../../tools/presets.ts";
import type { ProcessEnvironment } from "../../workspace/processes/environment.ts";
import type { OpenOptions } from "../options.ts";
import type { HomeResources } from "./home-resources.ts";
import { type LateGuard, lateSearch, lateWeb } from "./late-ports.ts";
import { offeredTools } from "./rules.ts";

export type ToolSet = {
  readonly tools: readonly ToolHead[];
  /** What agents have, where the session itself has less. */
  readonly agentTools?: readonly ToolHead[];
  /** Sentences for a person. */
  readonly problems: readonly string[];
};

export async function toolSet(
  { tools: choice, asks = "refused", version }: Pick<OpenOptions, "tools" | "asks" | "version">,
  {
    settings,
    env,
    rules,
    late,
    guard,
    ...ports
  }: Omit<ToolPorts, "web" | "search" | "digest" | "programs"> & {
    settings: KeelSettings;
    env: EnvironmentVariables;
    rules: Rules;
    late?: "some" | "none" | undefined;
    guard?: LateGuard | undefined;
  },
): Promise<ToolSet> {
  const { programs, whyNone } = await programsFor(settings, env, guard);
  const builtIn = builtInTools({
    web: lateWeb({ allowHosts: settings.web?.allowHosts, version }),
    search: lateSearch({ settings, env, version }),
    ...ports,
    programs,
  });
  const { tools, unknown } = chooseTools({ builtIn, choice, asks, list: listOf(env), late });
  const forAgents =
    choice === "coordinator" ? chooseTools({ builtIn, asks, list: listOf(env), late }) : undefined;
  return {
    tools: offeredTools(tools, rules),
    ...(forAgents ? { agentTools: offeredTools(forAgents.tools, rules) } : {}),
    problems: [
      ...unknown.map((name) => `There is no tool called ${JSON.stringify(name)}.`),
      ...(whyNone === undefined ? [] : [`RunProgram is not there: ${whyNone}.`]),
    ],
  };
}

/** Schedules of the home for the models of its sessions, loaded with the first call. */
export function lateSchedules(home: HomeResources, cwd: string): Schedules {
  const late = () => import("../schedules/session-schedules.ts").then((at) => at.sessionSchedules(home, cwd));
  return {
    add: async (order, by) => (await late()).add(order, by),
    list: async (by) => (await late()).list(by),
    cancel: async (id, by) => (await late()).cancel(id, by),
    entries: async () => (await late()).entries(),
  };
}

/** Programs for the model, where a person wants that it has some, and only where the kernel confines them. */
async function programsFor(
  { programTool }: KeelSettings,
  env: EnvironmentVariables,
  guard: LateGuard | undefined,
): Promise<{ programs?: Programs; whyNone?: string }> {
  if (programTool !== true || !guard) return {};
  const { confinedPrograms } = await import("../../workspace/programs/confined-programs.ts");
  const programs = confinedPrograms(env, await guard());
  const whyNone = await programs.whyNot();
  return whyNone === undefined ? { programs } : { whyNone };
}

/** Terminals for the model, where a person wants that it has some; none where commands are confined, which these would not be. */
export function lateTerminals(
  { terminalTool, sandbox }: Pick<KeelSettings, "terminalTool" | "sandbox">,
  { env, guard }: { readonly env: ProcessEnvironment; readonly guard: LateGuard },
): LiveTerminals | undefined {
  if (terminalTool !== true || sandbox?.enabled === true) return undefined;
  let opened: LiveTerminals | undefined;
  return {
    async start(command) {
      const { nodeLiveTerminals } = await import("../../workspace/terminals/live-terminals.ts");
      opened ??= nodeLiveTerminals({ env, guard });
      return opened.start(command);
    },
    find: (id) => opened?.find(id),
    list: () => opened?.list() ?? [],
    close: async () => opened?.close(),
  };
}

/** Tools of servers, without those that rules deny outright. */
export function allowedBox(box: Toolbox, rules: Rules): Toolbox {
  let from: { tools: ReturnType<Toolbox["tools"]>; deny: Rules["deny"] } | undefined;
  let offered: ReturnType<Toolbox["tools"]> = [];
  return {
    tools() {
      const now = { tools: box.tools(), deny: rules.deny };
      // The same array while nothing has changed.
      if (now.tools !== from?.tools || now.deny !== from.deny) offered = offeredTools(now.tools, rules);
      from = now;
      return offered;
    },
    knows: (name) => box.knows(name),
    ready: (signal) => box.ready(signal),
    instructions: () => box.instructions?.() ?? [],
  };
}

/** The older form of the list, for those who have set it up under either name. */
function listOf(env: EnvironmentVariables): "tasks" | "todos" {
  const request = env["KEEL_ENABLE_TASKS"] ?? env["CLAUDE_CODE_ENABLE_TASKS"] ?? "true";
  return ["false", "0", "no", "off"].includes(request.trim().toLowerCase()) ? "todos" : "tasks";
}
