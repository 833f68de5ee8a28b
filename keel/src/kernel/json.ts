/** JSON as data, and the two places where plain `JSON` is not strict enough for a wire. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** One line of JSON. U+2028 and U+2029 are escaped: some readers take them for line ends. */
export function toLine(value: unknown): string {
  return JSON.stringify(value).replace(/[\u2028\u2029]/g, (mark) =>
    mark === "\u2028" ? "\\u2028" : "\\u2029",
  );
}

/** Undefined when the text is not JSON. */
export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    // The caller answers: it knows what the text was meant to be.
    return undefined;
  }
}

/** What came from outside, read as what it should be: anything else counts as empty. */
export const asText = (value: unknown): string => (typeof value === "string" ? value : "");
export const asList = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
export const asObject = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {});

/** The same value with every text in it changed; keys stay as they are. */
export function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, change)]));
}

export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((part) => isDeeperThan(part, levels - 1));
}

/** What stands at a path inside; undefined where there is nothing. */
export const valueAt = (value: unknown, path: readonly string[]): unknown =>
  path.reduce((at, name) => (isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined), value);

/** A value at a path, inside of objects that hold nothing else. */
export const nested = (path: readonly string[], value: unknown): unknown =>
  path.toReversed().reduce((inner, name) => ({ [name]: inner }), value);

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

/** What a table says of a name, and nothing that every object has. */
export const own = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

/** Leaves out what is undefined: on a wire a field is there or not. */
export function present<T extends Record<string, unknown>>(
  fields: T,
): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  const known = Object.entries(fields).filter(([, value]) => value !== undefined);
  // The same names and values, without those that were undefined.
  return Object.fromEntries(known) as { [Name in keyof T]?: Exclude<T[Name], undefined> };
}
