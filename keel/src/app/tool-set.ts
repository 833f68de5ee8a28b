/** The tools of a session: the built-in ones over their ports, by preset or name, without what rules deny outright. */
import type { Environment } from "../config/paths.ts";
import type { Settings } from "../config/settings-schema.ts";
import type { Library } from "../engine/library.ts";
import type { Memory } from "../engine/memory.ts";
import type { Rules } from "../engine/policy/decide.ts";
import type { Tool } from "../engine/tools/define.ts";
import { builtInTools } from "../tools/catalog.ts";
import { chooseTools } from "../tools/presets.ts";
import type { OpenOptions } from "./options.ts";
import { offeredTools } from "./rules.ts";
import { lateSearch, lateWeb } from "./web-ports.ts";

export type ToolSet = {
  readonly tools: readonly Tool[];
  /** Sentences for a person. */
  readonly problems: readonly string[];
};

export function toolSet(
  { tools: choice, asks = "refused", version }: Pick<OpenOptions, "tools" | "asks" | "version">,
  {
    settings,
    env,
    rules,
    memory,
    library,
  }: {
    settings: Settings;
    env: Environment;
    rules: Rules;
    memory?: Memory | undefined;
    library?: Library | undefined;
  },
): ToolSet {
  const builtIn = builtInTools({
    web: lateWeb({ allowHosts: settings.web?.allowHosts, version }),
    search: lateSearch({ settings, env, version }),
    library,
    memory,
  });
  const { tools, unknown } = chooseTools({ builtIn, choice, asks, list: listOf(env) });
  return {
    tools: offeredTools(tools, rules),
    problems: unknown.map((name) => `There is no tool called ${JSON.stringify(name)}.`),
  };
}

/** The older form of the list, for those who have set it up under either name. */
function listOf(env: Environment): "tasks" | "todos" {
  const wish = env["KEEL_ENABLE_TASKS"] ?? env["CLAUDE_CODE_ENABLE_TASKS"] ?? "true";
  return ["false", "0", "no", "off"].includes(wish.trim().toLowerCase()) ? "todos" : "tasks";
}
