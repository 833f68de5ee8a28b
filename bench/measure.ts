/**
 * How a figure is made: every entrant of a contest runs once per round, the order turns with every round, and the
 * samples of all rounds give median and p90. A figure without its floor cannot be written down.
 */

/** What one run of an entrant gave, by the key of a figure. */
export type Samples = Readonly<Record<string, readonly number[]>>;

export type Entrant = {
  /** What runs, in a few words. */
  readonly name: string;
  run(): Promise<Samples>;
};

export type Figure = {
  readonly key: string;
  readonly name: string;
  readonly unit: "ms" | "MB" | "KB" | "kB" | "handles" | "tasks" | "nodes";
  /** Where it should stay: a ratio to the floor, so much beyond it, or a value in its unit. */
  readonly goal?: Goal;
};

export type Goal =
  | { readonly kind: "ratio"; readonly most: number }
  | { readonly kind: "beyond"; readonly most: number }
  | { readonly kind: "value"; readonly most: number };

/** The same work done by Keel and by the least code that could do it. */
export type Contest = {
  readonly name: string;
  readonly floor: Entrant;
  readonly keel: Entrant;
  /** Other programs that do the same work. */
  readonly peers?: readonly Entrant[];
  readonly figures: readonly Figure[];
};

/** A cost of the machine itself, which stands beside the contests and has no counterpart in Keel. */
export type Ground = { readonly name: string; readonly figures: readonly Figure[]; readonly floor: Entrant };

export type Summary = { readonly median: number; readonly p90: number; readonly samples: number };

export type Result = {
  readonly contest: string;
  readonly figure: string;
  readonly unit: Figure["unit"];
  readonly keel: Summary;
  readonly floor: Summary & { readonly name: string };
  readonly ratio: number;
  readonly peers: readonly (Summary & { readonly name: string; readonly ratio: number })[];
  readonly goal?: Goal & { readonly met: boolean };
};

export type GroundResult = { readonly figure: string; readonly unit: Figure["unit"] } & Summary;

/** Runs all contests in interleaved rounds. `tell` hears of every run before it starts. */
export async function measure(
  { contests, grounds }: { contests: readonly Contest[]; grounds: readonly Ground[] },
  { rounds, tell }: { rounds: number; tell: (what: string) => void },
): Promise<{ results: Result[]; grounds: GroundResult[] }> {
  const gathered = new Map<Entrant, Map<string, number[]>>();
  for (let round = 0; round < rounds; round++) {
    for (const { name, floor } of grounds) {
      tell(`round ${round + 1} of ${rounds}: ${name}`);
      gather(gathered, floor, await floor.run());
    }
    for (const contest of contests) {
      for (const entrant of inTurn(entrantsOf(contest), round)) {
        tell(`round ${round + 1} of ${rounds}: ${contest.name}: ${entrant.name}`);
        gather(gathered, entrant, await entrant.run());
      }
    }
  }
  return {
    results: contests.flatMap((contest) =>
      contest.figures.map((figure) => resultOf(contest, figure, gathered)),
    ),
    grounds: grounds.flatMap(({ floor, figures }) =>
      figures.map((figure) => ({
        figure: figure.name,
        unit: figure.unit,
        ...summaryOf(gathered, floor, figure),
      })),
    ),
  };
}

/** The middle and the ninth decile, each the mean of its neighbours where it falls between two samples. */
export function summarise(samples: readonly number[]): Summary {
  const sorted = samples.toSorted((left, right) => left - right);
  return { median: quantile(sorted, 0.5), p90: quantile(sorted, 0.9), samples: sorted.length };
}

export const median = (samples: readonly number[]): number => summarise(samples).median;

function quantile(sorted: readonly number[], share: number): number {
  const place = share * (sorted.length - 1);
  const below = sorted[Math.floor(place)];
  const above = sorted[Math.ceil(place)];
  if (below === undefined || above === undefined) throw new Error("A figure needs at least one sample.");
  return below + (above - below) * (place - Math.floor(place));
}

function resultOf(contest: Contest, figure: Figure, gathered: Gathered): Result {
  const keel = summaryOf(gathered, contest.keel, figure);
  const floor = summaryOf(gathered, contest.floor, figure);
  const ratio = keel.median / floor.median;
  return {
    contest: contest.name,
    figure: figure.name,
    unit: figure.unit,
    keel,
    floor: { name: contest.floor.name, ...floor },
    ratio,
    peers: (contest.peers ?? []).map((peer) => {
      const summary = summaryOf(gathered, peer, figure);
      return { name: peer.name, ...summary, ratio: keel.median / summary.median };
    }),
    ...(figure.goal
      ? { goal: { ...figure.goal, met: isMet(figure.goal, { keel: keel.median, floor: floor.median }) } }
      : {}),
  };
}

const isMet = ({ kind, most }: Goal, { keel, floor }: { keel: number; floor: number }): boolean =>
  keel <= (kind === "ratio" ? most * floor : kind === "beyond" ? most + floor : most);

type Gathered = Map<Entrant, Map<string, number[]>>;

function gather(gathered: Gathered, entrant: Entrant, samples: Samples): void {
  const before = gathered.get(entrant) ?? new Map<string, number[]>();
  gathered.set(entrant, before);
  for (const [key, added] of Object.entries(samples)) before.set(key, [...(before.get(key) ?? []), ...added]);
}

function summaryOf(gathered: Gathered, entrant: Entrant, { key, name }: Figure): Summary {
  const samples = gathered.get(entrant)?.get(key);
  if (!samples || samples.length === 0) throw new Error(`${entrant.name} gave nothing for "${name}".`);
  return summarise(samples);
}

const entrantsOf = ({ floor, keel, peers = [] }: Contest): Entrant[] => [floor, keel, ...peers];

/** Nobody runs always first: what a run leaves behind (heat, caches, a busy disk) is shared fairly. */
const inTurn = (entrants: readonly Entrant[], round: number): readonly Entrant[] =>
  round % 2 === 0 ? entrants : entrants.toReversed();
