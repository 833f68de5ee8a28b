/** What every wire needs to write a request. */
import { fingerprint } from "../kernel/text.ts";

export type IdRule = { readonly allowed: RegExp; readonly maxCharacters: number };

/**
 * Ids of calls as a wire takes them: a session may hold ids of several providers, and each wire has its own limits. The
 * id itself where it fits; otherwise another one, always the same for the same id.
 */
export const wireId = (id: string, { allowed, maxCharacters }: IdRule): string =>
  id.length <= maxCharacters && allowed.test(id) ? id : `call_${fingerprint(id)}`;

/** What was made of an object before, or what is made of it now. */
export function remember<K extends object, V>(memo: WeakMap<K, V>, key: K, make: () => V): V {
  const before = memo.get(key);
  if (before !== undefined) return before;
  const made = make();
  memo.set(key, made);
  return made;
}

const imageTypes = ["image/jpeg", "image/png", "image/gif", "image/webp"] as const;

export const isImageType = (mediaType: string): mediaType is (typeof imageTypes)[number] =>
  imageTypes.some((known) => known === mediaType);

export const efforts = ["low", "medium", "high", "xhigh", "max"] as const;
export type Effort = (typeof efforts)[number];

/** The highest level that a model takes and that is not above the wanted one, nor above `most`. */
export function effortFor(
  wanted: string | undefined,
  taken: readonly string[],
  most: Effort = "max",
): Effort | undefined {
  const levels: readonly (string | undefined)[] = efforts;
  const top = Math.min(levels.indexOf(wanted), levels.indexOf(most));
  return efforts.slice(0, top + 1).findLast((level) => taken.includes(level));
}
