/** The hooks of a session: those of the settings in force, of plugins, and of the program that opened it. */
import type { Plugin } from "../../config/definitions/plugins.ts";
import type { SessionPorts } from "../../engine/step-context.ts";
import type { CallTool } from "../../hooks/model-hooks.ts";
import type { RateCounts } from "../../hooks/rate-hook.ts";
import type { Hook } from "../../hooks/run.ts";
import { fault } from "../../kernel/fault.ts";
import { wireName } from "../../mcp/names.ts";
import { type Hooks, noHooks } from "../../ports/hooks.ts";
import { textOf } from "../../protocol/message.ts";
import { type LateGuard, latePrograms } from "./late-ports.ts";
import type { McpControl } from "./mcp.ts";
import { mayUse } from "./session-policy.ts";
import type { SettingsInForce } from "./settings.ts";

/** What calls hooks is loaded where there are any. */
export async function sessionHooks(
  own: readonly Hook[],
  {
    inForce: { settings, env, commandEnv },
    guard,
    cwd,
    transcript,
    plugins,
    callTool,
    rates,
  }: {
    inForce: Pick<SettingsInForce, "settings" | "env" | "commandEnv">;
    guard: LateGuard;
    cwd: string;
    transcript: (session: string, agentId?: string) => Promise<string | undefined>;
    plugins: readonly Plugin[];
    callTool: CallTool;
    rates: RateCounts;
  },
): Promise<{ hooks: Hooks; problems: readonly string[] }> {
  if (own.length === 0 && [settings, ...plugins].every(({ hooks }) => hooks === undefined))
    return { hooks: noHooks, problems: [] };
  const [{ hooksFrom }, { hooksInSettings }, { jsonPoster }] = await Promise.all([
    import("../../hooks/run-hooks.ts"),
    import("../../hooks/settings-hooks.ts"),
    import("../../workspace/web/post-json.ts"),
  ]);
  const context = {
    runProgram: latePrograms({ env: commandEnv, guard }),
    postJson: jsonPoster({ allowHosts: settings.web?.allowHosts ?? [] }),
    cwd,
    projectRoot: cwd,
    callTool,
    rates,
    env,
  };
  const written = [
    hooksInSettings(settings, context),
    ...plugins.map(({ hooks, path }) => hooksInSettings({ hooks }, { ...context, pluginRoot: path })),
  ];
  return {
    hooks: hooksFrom({ hooks: [...written.flatMap(({ hooks }) => hooks), ...own], transcript }),
    problems: written.flatMap(({ problems }) => problems),
  };
}

/** How a hook calls a tool of a server: like a command of its own, except that what rules deny is not called either. */
export function hookCalls({
  mcp,
  rules,
  workspace,
  ids,
}: Pick<SessionPorts, "rules" | "workspace" | "ids"> & { mcp: Pick<McpControl, "call"> }): CallTool {
  return async ({ server, tool, input }, signal) => {
    const name = wireName(server, tool);
    const { verdict, because } = await mayUse(name, { rules, workspace, mode: "default" });
    if (verdict === "deny") throw fault("hook_failed", { reason: `${name} was not called: ${because}.` });
    const { content, failed } = await mcp.call({ tool: name, input, callId: ids.uuid() }, signal);
    const said = textOf(content);
    if (failed) throw fault("hook_failed", { reason: `${name} failed: ${said.slice(0, 500)}` });
    return said;
  };
}
