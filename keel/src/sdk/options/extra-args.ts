/** `extraArgs`: flags of the executable, read by the same table where the session runs in this process. */
import { parseArguments } from "../../app/flags/arguments.ts";
import { passingOver, sayPassedOver } from "../../app/flags/foreign-flags.ts";
import { besideOptions, flagsOf, readUserFlags } from "../../app/flags/session-flags.ts";
import { present } from "../../kernel/json.ts";
import type { McpServerConfig } from "../tools/mcp-server.ts";
import type { Options } from "./options.ts";

/** The options with what the flags say, which were meant to come last. Throws `usage` for a value that is none. */
export async function withExtraArgs(options: Options): Promise<Options> {
  const { extraArgs = {}, cwd = process.cwd() } = options;
  const names = Object.keys(extraArgs);
  if (names.length === 0) return options;
  const given = Object.entries(extraArgs).flatMap(([name, value]) =>
    value === null ? [`--${name}`] : [`--${name}=${value}`],
  );
  const passed: string[] = [];
  const table = { ...flagsOf("executable"), ...besideOptions };
  const { values } = parseArguments(given, table, passingOver(passed, "passed over"));
  if (passed.length > 0) options.stderr?.(`${sayPassedOver(passed)}\n`);
  const {
    agents,
    mcpServers,
    appendSystemPrompt: append,
    ...said
  } = await readUserFlags("executable", values, cwd);
  // Flags and lists of rules are there also when nobody gave any.
  const told = Object.entries(said).filter(
    ([name, value]) =>
      value !== false &&
      (name !== "persistSession" || value !== true) &&
      (!Array.isArray(value) || value.length > 0 || name === "settingSources"),
  );
  return {
    ...options,
    ...present(
      Object.fromEntries([...told, ...(said.persistSession === false ? [["persistSession", false]] : [])]),
    ),
    ...(append === undefined ? {} : { systemPrompt: { type: "preset", preset: "claude_code", append } }),
    ...(agents ? { agents: { ...options.agents, ...(agents as Options["agents"]) } } : {}),
    ...(mcpServers
      ? { mcpServers: { ...options.mcpServers, ...(mcpServers as Record<string, McpServerConfig>) } }
      : {}),
    ...(values["disable-slash-commands"] ? { verbatimPrompts: true } : {}),
  };
}
