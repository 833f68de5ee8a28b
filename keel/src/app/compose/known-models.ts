/** The models that Keel knows, with what the user's settings add. */
import type { EnvironmentVariables } from "../../config/settings/paths.ts";
import type { ModelInfo } from "../../protocol/usage.ts";
import { catalogOf } from "./model.ts";
import { readSettings } from "./settings.ts";

export async function knownModels({
  env,
  cwd,
}: {
  env: EnvironmentVariables;
  cwd: string;
}): Promise<readonly ModelInfo[]> {
  const { settings } = await readSettings({ env, cwd });
  return catalogOf(settings).list();
}
