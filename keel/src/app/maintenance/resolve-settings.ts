/** The settings that a session in a folder would have, and where each comes from. Nothing is opened. */
import type { EnvironmentVariables } from "../../config/settings/paths.ts";
import { pathsOf } from "../../config/settings/paths.ts";
import { loadSettings } from "../../config/settings/settings.ts";
import type { KeelSettings } from "../../config/settings/settings-schema.ts";
import { fault } from "../../kernel/fault.ts";

export type SettingsQuestion = {
  readonly cwd: string;
  readonly env: EnvironmentVariables;
  readonly settingSources?: readonly ("user" | "project" | "local")[] | undefined;
  readonly forbidden?: Record<string, unknown> | undefined;
};

export type ResolvedValue = {
  /** `permissions.allow`, `env.PATH`. */
  readonly name: string;
  readonly value: unknown;
  readonly source: string;
  readonly file?: string | undefined;
  /** Whether it counts, and if not, why. */
  readonly state: "counts" | "overridden" | "left-out";
  readonly why?: string | undefined;
};

export type Resolved = {
  readonly effective: KeelSettings;
  /** Every value of every source, the strongest first. */
  readonly values: readonly ResolvedValue[];
  readonly problems: readonly string[];
};

/** Throws `usage` for a folder that is none, and `settings_invalid` for what an administrator or a host said wrongly. */
export async function resolveSettingsOf(question: SettingsQuestion): Promise<Resolved> {
  const { cwd, env, settingSources, forbidden } = question;
  if (cwd === "") throw fault("usage", { reason: "Name the folder whose settings are meant." });
  const { settings, entries, faults } = await loadSettings({
    paths: pathsOf({ env, cwd }),
    cwd,
    chosen: settingSources,
    forbidden,
  });
  return {
    effective: settings,
    values: entries.map(({ path, value, source, file, state }) => ({
      name: path.join("."),
      value,
      source,
      file,
      state: state.kind,
      ...(state.kind === "left-out" ? { why: state.why } : {}),
    })),
    problems: faults.map(({ message }) => message),
  };
}
