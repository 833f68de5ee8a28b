import { describe, expect, test } from "vitest";
import { type Contest, type Entrant, measure, type Samples, summarise } from "./measure.ts";

const quiet = { rounds: 2, tell: () => undefined };

function entrant(name: string, samples: Samples, ran: string[] = []): Entrant {
  return {
    name,
    run: async () => {
      ran.push(name);
      return samples;
    },
  };
}

function contest(more: Partial<Contest> = {}): Contest {
  return {
    name: "work",
    floor: entrant("floor", { time: [1, 3] }),
    keel: entrant("keel", { time: [4, 4] }),
    figures: [{ key: "time", name: "time", unit: "ms" }],
    ...more,
  };
}

describe("a summary", () => {
  test("is the middle and the ninth decile, whatever the order", () => {
    expect(summarise([5, 1, 4, 2, 3])).toEqual({ median: 3, p90: 4.6, samples: 5 });
  });

  test("of an even number lies between the two in the middle", () => {
    expect(summarise([1, 2, 10, 20]).median).toBe(6);
  });

  test("of nothing is refused", () => {
    expect(() => summarise([])).toThrow("at least one sample");
  });
});

describe("a measurement", () => {
  test("stands beside its floor, with the ratio of the medians over all rounds", async () => {
    const { results } = await measure({ contests: [contest()], grounds: [] }, quiet);
    expect(results).toMatchObject([
      { figure: "time", keel: { median: 4, samples: 4 }, floor: { name: "floor", median: 2 }, ratio: 2 },
    ]);
  });

  test("is refused where the floor has no figure", async () => {
    const without = contest({ floor: entrant("floor", { memory: [1] }) });
    await expect(measure({ contests: [without], grounds: [] }, quiet)).rejects.toThrow(
      'floor gave nothing for "time"',
    );
  });

  test("lets nobody run always first", async () => {
    const ran: string[] = [];
    const both = contest({
      floor: entrant("floor", { time: [1] }, ran),
      keel: entrant("keel", { time: [1] }, ran),
    });
    await measure({ contests: [both], grounds: [] }, quiet);
    expect(ran).toEqual(["floor", "keel", "keel", "floor"]);
  });

  test("says whether a goal is met, as a ratio, as so much more or as a value", async () => {
    const figures = [
      { key: "time", name: "near", unit: "ms", goal: { kind: "ratio", most: 2 } },
      { key: "time", name: "nearer", unit: "ms", goal: { kind: "ratio", most: 1.5 } },
      { key: "time", name: "a little more", unit: "ms", goal: { kind: "beyond", most: 5 } },
      { key: "time", name: "hardly more", unit: "ms", goal: { kind: "beyond", most: 1 } },
      { key: "time", name: "small", unit: "ms", goal: { kind: "value", most: 3 } },
    ] as const;
    const { results } = await measure({ contests: [contest({ figures })], grounds: [] }, quiet);
    expect(results.map(({ figure, goal }) => [figure, goal?.met])).toEqual([
      ["near", true],
      ["nearer", false],
      ["a little more", true],
      ["hardly more", false],
      ["small", false],
    ]);
  });

  test("shows how Keel stands to a peer that did the same work", async () => {
    const beside = contest({ peers: [entrant("other", { time: [16] })] });
    const { results } = await measure({ contests: [beside], grounds: [] }, quiet);
    expect(results[0]?.peers).toEqual([{ name: "other", median: 16, p90: 16, samples: 2, ratio: 0.25 }]);
  });

  test("keeps what only the machine costs apart", async () => {
    const ground = {
      name: "start",
      figures: [{ key: "ms", name: "start", unit: "ms" }] as const,
      floor: entrant("bare", { ms: [7] }),
    };
    const { grounds } = await measure({ contests: [], grounds: [ground] }, quiet);
    expect(grounds).toEqual([{ figure: "start", unit: "ms", median: 7, p90: 7, samples: 2 }]);
  });
});
