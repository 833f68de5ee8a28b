/** What the person's settings say of groups: no project has a say in it. */
import { homedir } from "node:os";
import type { EnvironmentVariables } from "../../config/settings/paths.ts";
import type { KeelSettings } from "../../config/settings/settings-schema.ts";
import { readSettings } from "../compose/settings.ts";
import type { Home } from "../home.ts";
import type { MountPlaces } from "./mounts.ts";

export type GroupSettings = NonNullable<KeelSettings["groups"]>;

export async function groupSettings(
  { path: home }: Pick<Home, "path">,
  env: EnvironmentVariables,
): Promise<GroupSettings> {
  return (await readSettings({ env, cwd: home, home })).settings.groups ?? {};
}

const usualMost = 5;

/** How many agents work at once. The variable is the name that others know it by. */
export function mostAtOnce({ maxConcurrent }: GroupSettings, env: EnvironmentVariables): number {
  const said = Number(env["MAX_CONCURRENT_CONTAINERS"]);
  return maxConcurrent ?? (Number.isInteger(said) && said > 0 ? said : usualMost);
}

export const mountPlaces = (
  { path: keelHome }: Pick<Home, "path">,
  { mounts = [] }: GroupSettings,
  env: EnvironmentVariables,
): MountPlaces => ({ allowed: mounts, keelHome, userHome: env["HOME"] ?? homedir() });
