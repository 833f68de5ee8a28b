/** JSON as data, and the two places where plain `JSON` is not strict enough for a wire. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** One line of JSON. U+2028 and U+2029 are escaped: some readers take them for line ends. */
export function toLine(value: unknown): string {
  return JSON.stringify(value).replace(/[\u2028\u2029]/g, (mark) =>
    mark === "\u2028" ? "\\u2028" : "\\u2029",
  );
}

/** Deep equality of JSON values; the order of keys does not count. */
export function sameJson(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every(
    (key) =>
      Object.hasOwn(right, key) && sameJson(left[key as keyof typeof left], right[key as keyof typeof right]),
  );
}

/** The same text for the same value, whatever the order of its keys. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => (isObject(part) ? sortedKeys(part) : part));
}

/** Whether a value is what `JSON.parse` could have made. */
export function isJson(value: unknown): value is Json {
  if (value === null || typeof value === "string" || typeof value === "boolean") return true;
  if (typeof value === "number") return Number.isFinite(value);
  if (Array.isArray(value)) return value.every(isJson);
  return isPlain(value) && Object.values(value).every(isJson);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An object that JSON could have made: no array, and of no class. */
export function isPlain(value: unknown): value is Record<string, unknown> {
  if (!isObject(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function sortedKeys(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)));
}

/** Half a surrogate pair is no Unicode: some servers would refuse the whole request for it. */
export function wellFormedJson(value: unknown): string {
  const text = JSON.stringify(value);
  if (!text.includes("\\ud")) return text;
  return JSON.stringify(value, (_, part: unknown) => (typeof part === "string" ? part.toWellFormed() : part));
}
