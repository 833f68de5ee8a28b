/** A budget in money needs prices: without one it would be a limit that never comes. */
import { fault } from "../../kernel/fault.ts";
import type { Catalog } from "../../models/catalog.ts";

/** Throws `usage` when a model that may be asked has no known price. */
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
