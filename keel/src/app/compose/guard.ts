/** The guard of this process, which ends whatever commands started when Keel ends. */
import type { Environment } from "../../config/settings/paths.ts";
import type { Settings } from "../../config/settings/settings-schema.ts";
import {
  describeGuard,
  type Guard,
  type GuardWish,
  openGuard,
  sayGuard,
} from "../../workspace/processes/guard.ts";

/**
 * The one thing that belongs to the process and not to a session: sessions of one process see each other's servers, and
 * a thousand of them need no thousand namespaces. It starts with the first command and ends with the process.
 */
const guards = new Map<GuardWish, Guard>();

export function processGuard(env: Environment, settings: Settings): Guard {
  const wish = guardWish(env, settings);
  const guard = guards.get(wish) ?? openGuard({ env, wish });
  guards.set(wish, guard);
  return guard;
}

/** The environment of the start is nearer to the person than a file. */
export function guardWish(env: Environment, { guard }: Settings): GuardWish {
  const named = env["KEEL_GUARD"];
  return named === "on" || named === "off" ? named : (guard ?? "on");
}

/** Tries which guard can be had here, and leaves nothing running. */
export async function examineGuard(
  env: Environment,
  settings: Settings,
): Promise<{ strongest: boolean; says: string }> {
  const facts = await describeGuard({ env, wish: guardWish(env, settings) });
  return { strongest: facts.kind === "namespace", says: sayGuard(facts) };
}
