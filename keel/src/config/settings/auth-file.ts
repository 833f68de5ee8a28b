/** Keys that a person gave Keel to keep: a private file, used where no variable and no setting names a key. */
import { asObject, isObject, parseJson } from "../../kernel/json.ts";
import { failed, ok, type Result } from "../../kernel/result.ts";
import { readPlainText } from "./plain-text.ts";
import { changeJson, type Lock } from "./save.ts";

export type StoredKey = {
  /** Absent where the system's keychain has it. */
  readonly key?: string | undefined;
  /** The address for which it was given; the provider's own when left out. It is sent nowhere else. */
  readonly baseUrl?: string | undefined;
};

/** By the provider's id. A file that others could read is told and still used: the harm is done. */
export async function readKeys(
  file: string,
): Promise<{ readonly keys: ReadonlyMap<string, StoredKey>; readonly problem?: string }> {
  const read = await readPlainText(file, { links: "refuse" });
  if (read.kind === "missing") return { keys: new Map() };
  if (read.kind !== "text") return { keys: new Map(), problem: `${file} is not read: ${read.why}` };
  const parsed = parse(read.text);
  if (!parsed.ok) return { keys: new Map(), problem: `${file} holds no keys that Keel can read.` };
  const isOpen = process.platform !== "win32" && (read.mode & 0o077) !== 0;
  const keys = parsed.value;
  return isOpen ? { keys, problem: `Others may read ${file}: chmod 600 it.` } : { keys };
}

/** Undefined removes it. Throws `settings_unwritable`. */
export function saveKey(
  saving: { file: string; lock: Lock },
  provider: string,
  kept: StoredKey | undefined,
): Promise<void> {
  return changeJson(saving, parse, (keys = new Map()) => {
    if (kept) keys.set(provider, kept);
    else keys.delete(provider);
    return { keys: Object.fromEntries(keys) };
  });
}

function parse(text: string): Result<Map<string, StoredKey>> {
  const { keys } = asObject(parseJson(text));
  if (!isObject(keys)) return failed("it holds something else than keys");
  const known = Object.entries(keys).filter((entry): entry is [string, object] => isObject(entry[1]));
  return ok(new Map(known.map(([provider, kept]) => [provider, keyIn(kept)])));
}

const keyIn = ({ key, baseUrl }: { key?: unknown; baseUrl?: unknown }): StoredKey => ({
  ...(typeof key === "string" ? { key } : {}),
  ...(typeof baseUrl === "string" ? { baseUrl } : {}),
});
