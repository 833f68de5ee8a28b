/** The limits of a session: the defaults, moved by the settings in force. */
import type { EnvironmentVariables } from "../../config/settings/paths.ts";
import type { KeelSettings } from "../../config/settings/settings-schema.ts";
import { defaultLimits, type Limits } from "../../core/limits.ts";
import { fault } from "../../kernel/fault.ts";
import type { Catalog } from "../../models/catalog.ts";

export function limitsFrom({ limits = {}, autoCompactEnabled, autoCompactWindow }: KeelSettings): Limits {
  return {
    ...defaultLimits,
    maxTurns: limits.maxTurns ?? defaultLimits.maxTurns,
    maxBudgetUsd: limits.maxBudgetUsd ?? defaultLimits.maxBudgetUsd,
    maxTokens: limits.maxTokens ?? defaultLimits.maxTokens,
    maxTimeMs: limits.maxMinutes === undefined ? defaultLimits.maxTimeMs : limits.maxMinutes * 60_000,
    maxProcesses: limits.maxProcesses ?? defaultLimits.maxProcesses,
    maxRetries: limits.maxRetries ?? defaultLimits.maxRetries,
    maxStreamRetries: limits.maxStreamRetries ?? defaultLimits.maxStreamRetries,
    windowTokens: autoCompactWindow ?? defaultLimits.windowTokens,
    compact: autoCompactEnabled === false ? "asked" : "when full",
  };
}

/** What the environment of a start says. Throws `usage` for a variable that is set to something else than a number. */
export function limitsInEnvironment(env: EnvironmentVariables): KeelSettings["limits"] {
  return { maxRetries: wholeNumber(env, "KEEL_MAX_RETRIES") };
}

function wholeNumber(env: EnvironmentVariables, name: string): number | undefined {
  const text = env[name]?.trim();
  if (!text) return undefined;
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw fault("usage", { reason: `${name} must be a whole number.` });
}

/** A budget in money needs prices. Throws `usage` when a model that may be asked has no known price. */
export function mustKnowPrices(
  maxBudgetUsd: number,
  models: readonly string[],
  catalog: Pick<Catalog, "info" | "unalias">,
): void {
  if (!Number.isFinite(maxBudgetUsd)) return;
  const unknown = models.find((name) => catalog.info(catalog.unalias(name)).prices === null);
  if (unknown === undefined) return;
  throw fault("usage", {
    reason: `The budget of ${maxBudgetUsd} USD cannot be kept: no price is known for the model ${unknown}. Say its prices in the settings (models), or leave the budget out.`,
  });
}
