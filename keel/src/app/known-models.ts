/** The models that Keel knows, with what the user's settings add. */
import { type Environment, pathsOf } from "../config/paths.ts";
import { readUserSettings } from "../config/user-settings.ts";
import type { ModelInfo } from "../protocol/usage.ts";
import { catalogOf } from "./model.ts";

export async function knownModels({
  env,
  cwd,
}: {
  env: Environment;
  cwd: string;
}): Promise<readonly ModelInfo[]> {
  const { settings } = await readUserSettings(pathsOf({ env, cwd }).settings);
  return catalogOf(settings).list();
}
