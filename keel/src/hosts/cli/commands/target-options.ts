/** The options that say which settings file is written. */
import type { WritableSource } from "../../../app/maintenance/settings-files.ts";
import { type CliOptions, usage } from "../arguments.ts";

/** Which file is written; the person's own when none is named. */
export const targetOptions = {
  user: { kind: "flag", says: "In your own settings (the default)" },
  project: { kind: "flag", says: "In the settings that the project shares" },
  local: { kind: "flag", says: "In your own settings for this project" },
} as const satisfies CliOptions;

export type TargetValues = { readonly [Name in keyof typeof targetOptions]: boolean };

export function targetOf(values: TargetValues): WritableSource {
  const named = (["user", "project", "local"] as const).filter((name) => values[name]);
  if (named.length > 1) throw usage("Name one of --user, --project and --local.");
  return named[0] ?? "user";
}
