import { describe, expect, test } from "vitest";
import { type Upgraders, upgradeRecord } from "./upgrade.ts";

const table: Upgraders = {
  1: (record) => ({ ...record, said: record["text"] }),
  2: ({ text: _, ...record }) => ({ ...record, loud: String(record["said"]).toUpperCase() }),
};

describe("an old record", () => {
  test("passes through every version between its own and ours", () => {
    expect(upgradeRecord({ seq: 1, text: "hi" }, 1, { table, to: 3 })).toEqual({
      seq: 1,
      said: "hi",
      loud: "HI",
    });
    expect(upgradeRecord({ seq: 1, said: "hi" }, 2, { table, to: 3 })).toEqual({
      seq: 1,
      said: "hi",
      loud: "HI",
    });
  });

  test("of our version stays as it is", () => {
    const record = { seq: 1 };
    expect(upgradeRecord(record, 3, { table, to: 3 })).toBe(record);
    expect(upgradeRecord(record, 1)).toBe(record);
  });

  test("of a version that no upgrader knows is a defect, not a guess", () => {
    expect(() => upgradeRecord({ seq: 1 }, 3, { table, to: 4 })).toThrow("from log format 3 to 4");
  });
});
