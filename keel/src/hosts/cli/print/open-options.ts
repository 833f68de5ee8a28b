/** From the options of the command line to those of a session. What does not fit together is a usage fault. */
import { mustFit, type OpenOptions, openOptionsOf } from "../../../app/options.ts";
import type { Context } from "../context.ts";
import { type FlagValues, readFlags } from "../session-flags.ts";
import { hasPerson } from "../terminal/answer-asks.ts";

export async function openOptions(
  values: FlagValues,
  start: "new prompt" | "go on",
  context: Context,
): Promise<OpenOptions> {
  const { env, cwd, version } = context;
  const given = await readFlags("cli", values, cwd);
  mustFit(given);
  return openOptionsOf(given, {
    version,
    env,
    cwd,
    // A new prompt gives an unfinished turn up; without one it is what goes on.
    unfinished: start === "go on" ? "continue" : "lost",
    asks: hasPerson(context) ? "answered" : "refused",
    mcpServers: given.mcpServers && (await checkedServers(given.mcpServers, env)),
    checkpoints: "on",
    memory: "on",
  });
}

async function checkedServers(servers: Record<string, unknown>, env: Context["env"]) {
  const { namedServers } = await import("../../../app/maintenance/mcp-manage.ts");
  return namedServers(servers, { env, what: "--mcp-config" });
}
