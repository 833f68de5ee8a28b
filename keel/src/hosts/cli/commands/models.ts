/** `keel models`: what Keel knows about models, from data only, and how newer data is taken. */

import { knownModels } from "../../../app/compose/model.ts";
import { usage } from "../../../app/flags/arguments.ts";
import { toLine } from "../../../kernel/json.ts";
import { visible } from "../../../kernel/text.ts";
import type { ModelInfo } from "../../../protocol/usage.ts";
import { sayCount, sayTable } from "../../../view/say.ts";
import type { CommandRun } from "../command.ts";

export const listModels: CommandRun<{ json: boolean }> = async ({ values }, context) => {
  const models = await knownModels(context);
  context.out.line(values.json ? toLine(models) : table(models));
  if (!values.json)
    context.err.line(
      `The newest prices are of ${newestOf(models)}; models that are not listed work without.`,
    );
};

export const refreshCatalog: CommandRun<{ from: string | undefined }> = async ({ values }, context) => {
  if (!values.from) throw usage("Say from where: --from FILE, or --from https://…");
  const { refreshModels } = await import("../../../app/maintenance/refresh-models.ts");
  const { file, models, added, changed, passedOver } = await refreshModels(context, {
    from: values.from,
    now: Date.now(),
  });
  const left = passedOver === 0 ? "" : ` ${passedOver} could not be read and were passed over.`;
  context.err.line(`${models} models, ${added} of them new, ${changed} changed: ${visible(file)}.${left}`);
};

/** By the dates of the prices: the catalog is as old as what it says. */
const newestOf = (models: readonly ModelInfo[]): string =>
  models
    .map(({ prices }) => prices?.asOf ?? "")
    .sort()
    .at(-1) || "no date";

function table(models: readonly ModelInfo[]): string {
  const rows = models.map(({ id, provider, windowTokens, prices }) => [
    id,
    provider,
    `${sayCount(windowTokens)} tokens`,
    prices ? `$${prices.input} in, $${prices.output} out per million (${prices.asOf})` : "prices unknown",
  ]);
  return sayTable(rows, "left");
}
