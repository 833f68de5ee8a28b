/** Agents of other people that speak the Agent Client Protocol, by the command that they are started with. None is fetched. */
import { createRequire } from "node:module";
import path from "node:path";
import type { KeelSettings } from "../../config/settings/settings-schema.ts";
import { fault } from "../../kernel/fault.ts";
import type { ProcessEnvironment } from "../../workspace/processes/environment.ts";

/** As their authors have them; a name of a person's own settings is stronger. */
const known: Readonly<Record<string, readonly [command: string, ...args: string[]]>> = {
  claude: ["claude-agent-acp"],
  codex: ["codex-acp"],
  copilot: ["copilot", "--acp"],
  cursor: ["cursor-agent", "acp"],
  gemini: ["gemini", "--acp"],
  goose: ["goose", "acp"],
  keel: ["keel", "acp"],
  kimi: ["kimi", "acp"],
  opencode: ["opencode", "acp"],
  qwen: ["qwen", "--acp"],
};

export type AgentProgram = {
  readonly file: string;
  readonly args: readonly string[];
  /** What it has beside the environment of commands. */
  readonly env: Readonly<Record<string, string>>;
};

type AgentSettings = Pick<KeelSettings, "acpAgents">;

/** The names that can be said in place of a command. */
export const agentNames = ({ acpAgents = {} }: AgentSettings): string[] =>
  [...new Set([...Object.keys(acpAgents), ...Object.keys(known)])].sort();

/** `keys`: it sees the keys in the server's environment too. Throws `work_refused` where nothing is named. */
export function agentProgram(
  command: readonly string[],
  { settings, env, keys }: { settings: AgentSettings; env: ProcessEnvironment; keys: boolean },
): AgentProgram {
  const [name, ...rest] = command;
  if (name === undefined || name === "")
    throw fault("work_refused", {
      reason: `An agent needs a command, or a name: ${agentNames(settings).join(", ")}.`,
    });
  const { acpAgents = {} } = settings;
  const own = rest.length === 0 && Object.hasOwn(acpAgents, name) ? acpAgents[name] : undefined;
  if (own)
    return programOf([own.command, ...(own.args ?? [])], { env, keys: own.keys ?? keys, more: own.env });
  const preset = rest.length === 0 && Object.hasOwn(known, name) ? known[name] : undefined;
  return programOf(preset ?? command, { env, keys });
}

function programOf(
  [named = "", ...args]: readonly string[],
  {
    env,
    keys,
    more = {},
  }: { env: ProcessEnvironment; keys: boolean; more?: Record<string, string> | undefined },
): AgentProgram {
  // By its name alone it is the Keel that serves, wherever that is installed, with what is its own.
  const isKeel = named === "keel";
  const whole = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return {
    file: isKeel ? ownCommand() : named,
    args,
    env: { ...(isKeel || keys ? Object.fromEntries(whole) : {}), ...more },
  };
}

/** Beside the package that this code is of. */
export const ownCommand = (): string =>
  path.join(path.dirname(createRequire(import.meta.url).resolve("keel/package.json")), "bin/keel");
