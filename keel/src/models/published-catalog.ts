/**
 * A catalog that somebody publishes, as rows of ours: what `keel models --json` prints, the same with its date, or the form
 * of models.dev, which lists models under their providers. What cannot be read as a model is passed over and counted.
 */
import { asList, asObject, asText, isObject } from "../kernel/json.ts";
import { type ModelInfo, modelInfoSchema } from "../protocol/usage.ts";

export type PublishedCatalog = { readonly models: readonly ModelInfo[]; readonly passedOver: number };

/** Undefined when it is no catalog at all. `ids`: the providers that can be asked here. */
export function readCatalog(
  value: unknown,
  { today, ids }: { readonly today: string; readonly ids: readonly string[] },
): PublishedCatalog | undefined {
  const rows = Array.isArray(value) ? value : isObject(value) ? value["models"] : undefined;
  if (Array.isArray(rows)) return counted(rows);
  if (!isObject(value)) return undefined;
  const listed = Object.entries(value).filter(([, provider]) => isObject(asObject(provider)["models"]));
  if (listed.length === 0) return undefined;
  return counted(
    listed
      .filter(([id]) => ids.includes(id))
      .flatMap(([id, provider]) =>
        Object.entries(asObject(asObject(provider)["models"])).map(([model, about]) =>
          rowOf(asObject(about), { provider: id, model, today }),
        ),
      ),
  );
}

function counted(rows: readonly unknown[]): PublishedCatalog {
  const read = rows.map((row) => modelInfoSchema.safeParse(row));
  const models = read.flatMap((row) => (row.success && isSensible(row.data) ? [row.data] : []));
  return { models, passedOver: rows.length - models.length };
}

const isSensible = ({ id, windowTokens, maxOutputTokens, prices }: ModelInfo): boolean =>
  /^[\w./:@+-]{1,200}$/.test(id) &&
  windowTokens > 0 &&
  maxOutputTokens > 0 &&
  (prices === null ||
    [prices.input, prices.output, prices.cacheRead, prices.cacheWrite].every((price) => price >= 0));

/** Providers whose models are known by their own names, without the provider's before them. */
const plainIds = ["anthropic", "openai", "google"];

function rowOf(
  about: Record<string, unknown>,
  { provider, model, today }: { provider: string; model: string; today: string },
): object {
  const { context, output } = asObject(about["limit"]);
  const cost = asObject(about["cost"]);
  const { input, output: out, cache_read, cache_write } = cost;
  const inputs = asList(asObject(about["modalities"])["input"]);
  const read = cache_read ?? input;
  const write = cache_write ?? input;
  const table = { input, output: out, cacheRead: read, cacheWrite: write, cacheWriteLong: write };
  return {
    id: plainIds.includes(provider) ? model : `${provider}/${model}`,
    name: asText(about["name"]) || model,
    provider,
    windowTokens: context,
    maxOutputTokens: output,
    prices: typeof input === "number" && typeof out === "number" ? { ...table, asOf: today } : null,
    abilities: {
      tools: about["tool_call"] !== false,
      images: inputs.includes("image"),
      thinking: "none",
      cache: provider === "anthropic",
    },
  };
}
