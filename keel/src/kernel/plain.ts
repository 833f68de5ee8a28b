/**
 * Values of our own as JSON, and back: maps, sets, lists, lookups, and members that are there and undefined. For what one
 * build of Keel writes and the same build reads; everything else has a schema.
 */
import { isPlain } from "./json.ts";
import { List } from "./list.ts";
import { Lookup } from "./lookup.ts";

/** Stands for a value that JSON has no word for. A plain object that has such a member itself is written as its members. */
const SIGN = "$";

/** Throws a TypeError for a value that would not come back as it is. */
export function toPlain(value: unknown): unknown {
  if (value === undefined) return { [SIGN]: "undefined" };
  if (value === null || typeof value === "string" || typeof value === "boolean" || Number.isFinite(value))
    return value;
  if (Array.isArray(value)) return value.map(toPlain);
  const kind = kinds.find(({ is }) => is(value));
  if (kind) return { [SIGN]: kind.name, of: [...(value as Iterable<unknown>)].map(toPlain) };
  if (!isPlain(value)) throw new TypeError("a value that cannot be kept");
  const members = Object.entries(value).map(([name, member]) => [name, toPlain(member)] as const);
  return Object.hasOwn(value, SIGN) ? { [SIGN]: "object", of: members } : Object.fromEntries(members);
}

/** What `toPlain` was given. */
export function fromPlain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fromPlain);
  if (!isPlain(value)) return value;
  if (!Object.hasOwn(value, SIGN)) return made(Object.entries(value));
  const name = value[SIGN];
  if (name === "undefined") return undefined;
  const items = Array.isArray(value["of"]) ? value["of"] : [];
  if (name === "object") return made(items);
  const kind = kinds.find((each) => each.name === name);
  if (!kind) throw new TypeError("a value of an unknown kind");
  return kind.make(items.map(fromPlain));
}

const made = (members: readonly (readonly [string, unknown])[]): object =>
  Object.fromEntries(members.map(([name, member]) => [name, fromPlain(member)]));

type CollectionKind = {
  readonly name: string;
  is(value: unknown): boolean;
  make(items: readonly unknown[]): unknown;
};
type Pair = readonly [string, unknown];

const kinds: readonly CollectionKind[] = [
  { name: "map", is: (value) => value instanceof Map, make: (items) => new Map(items as Pair[]) },
  { name: "set", is: (value) => value instanceof Set, make: (items) => new Set(items) },
  { name: "list", is: (value) => value instanceof List, make: (items) => List.of(items) },
  { name: "lookup", is: (value) => value instanceof Lookup, make: (items) => Lookup.of(items as Pair[]) },
];
