/**
 * A list of things that know their own key, with the meaning of a value: `put` and `remove` return a new list and leave
 * the old one as it was. Both share all but one path of a tree, so a change costs the same in a long list as in a
 * short one. The thing that was put last is held beside the tree: putting it again and again, as a text that grows by
 * the word is put, touches no tree at all.
 */
export class KeyedList<T extends { readonly id: string }> {
  readonly length: number;
  /** By slot: slots are given out in order and never twice, so the tree is in the order of the list. */
  readonly #items: Tree<T> | undefined;
  /** By the hash of a key, the slots of the keys that have it. */
  readonly #slots: Tree<readonly number[]> | undefined;
  readonly #nextSlot: number;
  /** Newer than what the tree holds in its slot. */
  readonly #last: { readonly slot: number; readonly item: T } | undefined;

  private constructor(parts: Parts<T>) {
    this.#items = parts.items;
    this.#slots = parts.slots;
    this.#nextSlot = parts.nextSlot;
    this.#last = parts.last;
    this.length = this.#items?.size ?? 0;
  }

  static empty<T extends { readonly id: string }>(): KeyedList<T> {
    return new KeyedList<T>({ items: undefined, slots: undefined, nextSlot: 0, last: undefined });
  }

  get(id: string): T | undefined {
    if (this.#last?.item.id === id) return this.#last.item;
    const slot = this.#slotOf(id);
    return slot === undefined ? undefined : find(this.#items, slot);
  }

  at(index: number): T | undefined {
    const item = nth(this.#items, index < 0 ? this.length + index : index);
    return item && this.#last?.item.id === item.id ? this.#last.item : item;
  }

  /** In the place of the one with its key; at the end where there is none. */
  put(item: T): KeyedList<T> {
    const last = this.#last;
    if (last?.item === item) return this;
    if (last?.item.id === item.id) return this.#with({ last: { slot: last.slot, item } });
    const known = this.#slotOf(item.id);
    if (known !== undefined)
      return find(this.#items, known) === item
        ? this
        : this.#with({ items: this.#settled(), last: { slot: known, item } });
    const slot = this.#nextSlot;
    const hash = hashOf(item.id);
    return this.#with({
      items: put(this.#settled(), { at: slot, item }),
      slots: put(this.#slots, { at: hash, item: [...(find(this.#slots, hash) ?? []), slot] }),
      nextSlot: slot + 1,
      last: { slot, item },
    });
  }

  remove(id: string): KeyedList<T> {
    const slot = this.#slotOf(id);
    if (slot === undefined) return this;
    const hash = hashOf(id);
    const others = (find(this.#slots, hash) ?? []).filter((other) => other !== slot);
    return this.#with({
      items: remove(this.#settled(), slot),
      slots: others.length > 0 ? put(this.#slots, { at: hash, item: others }) : remove(this.#slots, hash),
      last: undefined,
    });
  }

  /** The keys of what came, went, moved or is another object than it was. What both lists share is not looked at. */
  changedSince(before: KeyedList<T>): Set<string> {
    const changed = new Set<string>();
    if (before !== this) collectChanges(before.#settled(), this.#settled(), changed);
    return changed;
  }

  toArray(): T[] {
    const all: T[] = [];
    collect(this.#settled(), all);
    return all;
  }

  [Symbol.iterator](): Iterator<T> {
    return this.toArray().values();
  }

  toJSON(): T[] {
    return this.toArray();
  }

  #with(changed: Partial<Parts<T>>): KeyedList<T> {
    const parts = { items: this.#items, slots: this.#slots, nextSlot: this.#nextSlot, last: this.#last };
    return new KeyedList<T>({ ...parts, ...changed });
  }

  #settled(): Tree<T> | undefined {
    const last = this.#last;
    return last ? put(this.#items, { at: last.slot, item: last.item }) : this.#items;
  }

  #slotOf(id: string): number | undefined {
    return find(this.#slots, hashOf(id))?.find((slot) => find(this.#items, slot)?.id === id);
  }
}

type Parts<T> = {
  readonly items: Tree<T> | undefined;
  readonly slots: Tree<readonly number[]> | undefined;
  readonly nextSlot: number;
  readonly last: { readonly slot: number; readonly item: T } | undefined;
};

/** Numbers of 30 bits → items, in the order of the numbers. Five bits lead from a node to the next; absent ones take no room. */
type Tree<T> =
  | { readonly kind: "leaf"; readonly bits: number; readonly size: number; readonly items: readonly T[] }
  | {
      readonly kind: "branch";
      readonly bits: number;
      readonly size: number;
      readonly trees: readonly Tree<T>[];
    };

const topShift = 25;

/** Where in a node the way to a number goes on: its bit, and how many of the node's entries stand before it. */
function stepTo(bits: number, at: number, shift: number): { bit: number; index: number; isThere: boolean } {
  const bit = 1 << ((at >>> shift) & 31);
  return { bit, index: countBits(bits & (bit - 1)), isThere: (bits & bit) !== 0 };
}

function find<T>(tree: Tree<T> | undefined, at: number): T | undefined {
  let here = tree;
  for (let shift = topShift; here; shift -= 5) {
    const { index, isThere } = stepTo(here.bits, at, shift);
    if (!isThere) return undefined;
    if (here.kind === "leaf") return here.items[index];
    here = here.trees[index];
  }
  return undefined;
}

function nth<T>(tree: Tree<T> | undefined, index: number): T | undefined {
  let here = tree;
  let left = index;
  while (here?.kind === "branch") {
    const { trees }: { trees: readonly Tree<T>[] } = here;
    here = trees.find(({ size }) => {
      if (left < size) return true;
      left -= size;
      return false;
    });
  }
  return here?.items[left];
}

function put<T>(
  tree: Tree<T> | undefined,
  entry: { readonly at: number; readonly item: T },
  shift = topShift,
): Tree<T> {
  const { bit, index, isThere } = stepTo(tree?.bits ?? 0, entry.at, shift);
  const bits = (tree?.bits ?? 0) | bit;
  if (shift === 0) {
    const items = replaced(tree?.kind === "leaf" ? tree.items : [], { index, isThere, by: entry.item });
    return { kind: "leaf", bits, size: items.length, items };
  }
  const before = tree?.kind === "branch" ? tree.trees : [];
  const next = put(isThere ? before[index] : undefined, entry, shift - 5);
  const grownBy = next.size - ((isThere ? before[index]?.size : 0) ?? 0);
  const trees = replaced(before, { index, isThere, by: next });
  return { kind: "branch", bits, size: (tree?.size ?? 0) + grownBy, trees };
}

function remove<T>(tree: Tree<T> | undefined, at: number, shift = topShift): Tree<T> | undefined {
  if (!tree) return undefined;
  const { bit, index, isThere } = stepTo(tree.bits, at, shift);
  if (!isThere) return tree;
  if (tree.kind === "branch") {
    const next = remove(tree.trees[index], at, shift - 5);
    if (next) return { ...tree, size: tree.size - 1, trees: tree.trees.with(index, next) };
  }
  if (countBits(tree.bits) === 1) return undefined;
  const bits = tree.bits & ~bit;
  return tree.kind === "leaf"
    ? { ...tree, bits, size: tree.size - 1, items: tree.items.toSpliced(index, 1) }
    : { ...tree, bits, size: tree.size - 1, trees: tree.trees.toSpliced(index, 1) };
}

function replaced<T>(
  items: readonly T[],
  { index, isThere, by }: { index: number; isThere: boolean; by: T },
): readonly T[] {
  return isThere ? items.with(index, by) : items.toSpliced(index, 0, by);
}

function collect<T>(tree: Tree<T> | undefined, into: T[]): void {
  if (tree?.kind === "leaf") into.push(...tree.items);
  else for (const below of tree?.trees ?? []) collect(below, into);
}

function collectChanges<T extends { readonly id: string }>(
  before: Tree<T> | undefined,
  after: Tree<T> | undefined,
  into: Set<string>,
): void {
  if (before === after) return;
  const bits = (before?.bits ?? 0) | (after?.bits ?? 0);
  for (let position = 0; position < 32; position++) {
    if ((bits & (1 << position)) === 0) continue;
    const [old, now] = [entryAt(before, position), entryAt(after, position)];
    if (old.item !== now.item)
      for (const item of [old.item, now.item]) {
        if (item) into.add(item.id);
      }
    collectChanges(old.below, now.below, into);
  }
}

function entryAt<T>(
  tree: Tree<T> | undefined,
  position: number,
): { item?: T | undefined; below?: Tree<T> | undefined } {
  const { index, isThere } = stepTo(tree?.bits ?? 0, position, 0);
  if (!tree || !isThere) return {};
  return tree.kind === "leaf" ? { item: tree.items[index] } : { below: tree.trees[index] };
}

function countBits(bits: number): number {
  let count = bits - ((bits >>> 1) & 0x55555555);
  count = (count & 0x33333333) + ((count >>> 2) & 0x33333333);
  return Math.imul((count + (count >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** FNV-1a, of which 30 bits are taken. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return (hash ^ (hash >>> 15)) & 0x3fffffff;
}
