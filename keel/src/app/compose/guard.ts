/** The guard of this process, which ends whatever commands started when Keel ends. */
import type { EnvironmentVariables } from "../../config/settings/paths.ts";
import type { KeelSettings } from "../../config/settings/settings-schema.ts";
import {
  describeProcessGuard,
  type GuardMode,
  openProcessGuard,
  type ProcessGuard,
  sayProcessGuard,
} from "../../workspace/processes/process-guard.ts";

/**
 * The one thing that belongs to the process and not to a session: sessions of one process see each other's servers, and
 * a thousand of them need no thousand namespaces. It starts with the first command and ends with the process.
 */
const guards = new Map<GuardMode, ProcessGuard>();

export function processGuard(env: EnvironmentVariables, settings: KeelSettings): ProcessGuard {
  const request = guardOptions(env, settings);
  const guard = guards.get(request) ?? openProcessGuard({ env, wish: request });
  guards.set(request, guard);
  return guard;
}

/** The environment of the start is nearer to the person than a file. */
export function guardOptions(env: EnvironmentVariables, { guard }: KeelSettings): GuardMode {
  const named = env["KEEL_GUARD"];
  return named === "on" || named === "off" ? named : (guard ?? "on");
}

/** Tries which guard can be had here, and leaves nothing running. */
export async function examineGuard(
  env: EnvironmentVariables,
  settings: KeelSettings,
): Promise<{ strongest: boolean; says: string }> {
  const facts = await describeProcessGuard({ env, wish: guardOptions(env, settings) });
  return { strongest: facts.kind === "namespace", says: sayProcessGuard(facts) };
}
