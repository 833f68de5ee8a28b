/** The names in a directory that come closest to one that is not there. */
import { opendir } from "node:fs/promises";

/** Names that are looked at, and told: a hint must not cost more than the work. */
const maxEntries = 2_000;
const maxTold = 5;
/** Half of the pairs of letters must agree. */
const minLikeness = 0.5;

/** Undefined when the directory cannot be listed. */
export async function closestNames(directory: string, wanted: string): Promise<string[] | undefined> {
  const names = await namesIn(directory);
  if (!names) return undefined;
  const pairs = pairsOf(wanted);
  return names
    .map((name) => ({ name, score: likeness(pairs, pairsOf(name)) }))
    .filter(({ score }) => score >= minLikeness)
    .sort((left, right) => right.score - left.score)
    .slice(0, maxTold)
    .map(({ name }) => name);
}

async function namesIn(directory: string): Promise<string[] | undefined> {
  try {
    const names: string[] = [];
    for await (const entry of await opendir(directory)) {
      names.push(entry.name);
      if (names.length >= maxEntries) break;
    }
    return names;
  } catch {
    return undefined; // Missing or closed to us: either way there is nothing to suggest.
  }
}

/** The pairs of neighbouring letters, without case; the ends count as letters, so that short names have pairs too. */
function pairsOf(name: string): Set<string> {
  const text = ` ${name.toLowerCase()} `;
  return new Set(Array.from({ length: text.length - 1 }, (_, index) => text.slice(index, index + 2)));
}

function likeness(left: ReadonlySet<string>, right: ReadonlySet<string>): number {
  const common = left
    .values()
    .filter((pair) => right.has(pair))
    .toArray().length;
  return (2 * common) / (left.size + right.size);
}
