/** `keel models`: what Keel knows about models, from data only. */

import { knownModels } from "../../../app/compose/model.ts";
import { toLine } from "../../../kernel/json.ts";
import type { ModelInfo } from "../../../protocol/usage.ts";
import { sayCount, sayTable } from "../../../view/say.ts";
import type { CommandRun } from "../command.ts";

export const listModels: CommandRun<{ json: boolean }> = async ({ values }, context) => {
  const models = await knownModels(context);
  context.out.line(values.json ? toLine(models) : table(models));
};

function table(models: readonly ModelInfo[]): string {
  const rows = models.map(({ id, provider, windowTokens, prices }) => [
    id,
    provider,
    `${sayCount(windowTokens)} tokens`,
    prices ? `$${prices.input} in, $${prices.output} out per million (${prices.asOf})` : "prices unknown",
  ]);
  return sayTable(rows, "left");
}
