/** The first of a row of points at which something is wrong, if it stays wrong from there on: as few looks as possible. */

export type PointSearch = {
  /** Undefined when the last one is fine. 0: it was wrong from the start. */
  readonly first: number | undefined;
  /** What was seen at each point that was looked at. */
  readonly seen: ReadonlyMap<number, boolean>;
  /** How often it was looked: at most ⌈log2 n⌉ + 1, or twice that where each is looked at twice. */
  readonly looks: number;
  /** The points at which two looks saw different things. */
  readonly unsure: readonly number[];
};

export async function firstBad(
  points: number,
  isBad: (point: number) => boolean | Promise<boolean>,
  { twice = false }: { readonly twice?: boolean } = {},
): Promise<PointSearch> {
  const seen = new Map<number, boolean>();
  const unsure: number[] = [];
  let looks = 0;
  const look = async (point: number): Promise<boolean> => {
    looks++;
    const bad = await isBad(point);
    seen.set(point, bad);
    if (!twice) return bad;
    looks++;
    if ((await isBad(point)) !== bad) unsure.push(point);
    return bad;
  };
  const over = (first: number | undefined): PointSearch => ({ first, seen, looks, unsure });
  if (points === 0 || !(await look(points - 1))) return over(undefined);
  let [good, bad] = [-1, points - 1];
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    if (await look(middle)) bad = middle;
    else good = middle;
    // What answers now so, now so, leads anywhere.
    if (unsure.length > 0) break;
  }
  return over(bad);
}
