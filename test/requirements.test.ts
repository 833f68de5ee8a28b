// The ledger is whole, and no test cites an id that is not in it.
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { citationsIn } from "./architecture/citations.ts";
import { requirements } from "./support/requirements.ts";

const root = path.resolve(import.meta.dirname, "..");

test("the ledger holds every id of every group, without a gap", () => {
  const expected = [
    ...numbered("S0.", 83),
    ...numbered("S1.", 38),
    ...numbered("S2.", 61),
    ...numbered("S3.", 21),
    ...numbered("S4.", 84),
    ...numbered("P", 58),
    ...numbered("G", 48),
  ];
  expect(Object.keys(requirements)).toEqual(expected);
});

test("every citation in a test names a requirement", () => {
  const files = globSync(["keel/src/**/*.test.{ts,tsx}", "web/src/**/*.test.{ts,tsx}", "test/**/*.test.ts"], {
    cwd: root,
  });
  const unknown = files.flatMap((file) =>
    citationsIn(file, readFileSync(path.join(root, file), "utf8"))
      .filter(({ id }) => id === undefined || !Object.hasOwn(requirements, id))
      .map(({ id, line }) => `${file}:${line}: ${id ?? "not a plain string"}`),
  );
  expect(unknown).toEqual([]);
});

describe("the search for citations", () => {
  test("finds every id, over lines too", () => {
    const text = 'verifies(\n  "S0.1",\n  "X9",\n);';
    expect(citationsIn("a.test.ts", text)).toEqual([
      { id: "S0.1", line: 1 },
      { id: "X9", line: 1 },
    ]);
  });

  test("reports what it cannot read as unknown", () => {
    expect(citationsIn("a.test.ts", "verifies(...ids);")).toEqual([{ id: undefined, line: 1 }]);
  });

  test("is not fooled by comments and strings", () => {
    expect(citationsIn("a.test.ts", '// verifies("X9")\nconst text = \'verifies("X9")\';')).toEqual([]);
  });
});

function numbered(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${index + 1}`);
}
