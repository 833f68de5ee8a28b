/** What a host needs to read the two options about settings. */
import { readJsonc } from "../../config/settings/jsonc.ts";
import { chosenSources } from "../../config/settings/layers.ts";
import { isObject } from "../../kernel/json.ts";
import { failed, ok, type Result } from "../../kernel/result.ts";

/** The names that `--setting-sources` takes. */
export const settingSources = chosenSources;

/** Settings that were given as a text, with comments or without. */
export async function readInlineSettings(text: string): Promise<Result<Record<string, unknown>>> {
  const read = await readJsonc(text);
  if (!read.ok) return read;
  return isObject(read.value) ? ok(read.value) : failed("it is not an object");
}
