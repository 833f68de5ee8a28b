// The counters in a settings file, by the name of their writer.
import { readJsonc } from "../../keel/src/config/settings/jsonc.ts";
import { isObject } from "../../keel/src/kernel/json.ts";

/** Throws when the text is not whole. */
export async function countsIn(text: string): Promise<Record<string, number>> {
  const read = await readJsonc(text);
  if (!read.ok) throw new Error(`torn: ${read.error}`);
  const env = isObject(read.value) && isObject(read.value["env"]) ? read.value["env"] : {};
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [name, Number(value)]));
}
