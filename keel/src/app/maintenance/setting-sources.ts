/** What a host needs to read settings that are given inline. */
import { readJsonc } from "../../config/settings/jsonc.ts";
import { isObject } from "../../kernel/json.ts";
import { failed, ok, type Result } from "../../kernel/result.ts";

/** Settings that were given as a text, with comments or without. */
export async function readInlineSettings(text: string): Promise<Result<Record<string, unknown>>> {
  const read = await readJsonc(text);
  if (!read.ok) return read;
  return isObject(read.value) ? ok(read.value) : failed("it is not an object");
}
