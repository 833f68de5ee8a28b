/** The hooks of a session: those of the settings in force, of plugins, and of the program that opened it. */
import type { Plugin } from "../config/plugins.ts";
import { hooksInSettings } from "../config/shell-hooks.ts";
import { hooksFrom } from "../engine/hooks/hooks.ts";
import type { Hooks } from "../engine/hooks/points.ts";
import { jsonPoster } from "../workspace/post-json.ts";
import { programs } from "../workspace/program.ts";
import { processGuard } from "./guard.ts";
import type { ProgramHook } from "./program-hook.ts";
import type { SettingsInForce } from "./settings.ts";

export function sessionHooks(
  own: readonly ProgramHook[],
  {
    inForce,
    cwd,
    transcript,
    plugins = [],
  }: {
    inForce: Pick<SettingsInForce, "settings" | "env" | "commandEnv">;
    cwd: string;
    transcript: (session: string) => string | undefined;
    plugins?: readonly Plugin[] | undefined;
  },
): { hooks: Hooks; problems: readonly string[] } {
  const { settings, env, commandEnv } = inForce;
  const world = {
    runProgram: programs({ env: commandEnv, guard: processGuard(env, settings) }),
    postJson: jsonPoster({ allowHosts: settings.web?.allowHosts ?? [] }),
    cwd,
    projectRoot: cwd,
    env,
  };
  const written = [
    hooksInSettings(settings, world),
    ...plugins.map(({ hooks, path }) => hooksInSettings({ hooks }, { ...world, pluginRoot: path })),
  ];
  return {
    hooks: hooksFrom({ hooks: [...written.flatMap(({ hooks }) => hooks), ...own], transcript }),
    problems: written.flatMap(({ problems }) => problems),
  };
}
