/** The limits of a session: the defaults, moved by options and by the user's environment. */
import type { Environment } from "../config/paths.ts";
import { defaultLimits, type Limits } from "../engine/limits.ts";
import { fault } from "../kernel/fault.ts";

export type LimitWish = {
  readonly maxTurns?: number | undefined;
  readonly maxBudgetUsd?: number | undefined;
};

/** Throws `usage` for a variable that is set to something else than a number. */
export function limitsFrom(wish: LimitWish, env: Environment): Limits {
  return {
    ...defaultLimits,
    maxTurns: wish.maxTurns ?? defaultLimits.maxTurns,
    maxBudgetUsd: wish.maxBudgetUsd ?? defaultLimits.maxBudgetUsd,
    maxRetries: wholeNumber(env, "KEEL_MAX_RETRIES") ?? defaultLimits.maxRetries,
  };
}

function wholeNumber(env: Environment, name: string): number | undefined {
  const text = env[name]?.trim();
  if (!text) return undefined;
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw fault("usage", { reason: `${name} must be a whole number.` });
}
