// What ARCHITECTURE.md says of the way of a prompt and of a permission through the files.
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { readRepository } from "./architecture/repository.ts";
import { readSource } from "./architecture/source.ts";
import { brokenSteps, walksIn } from "./architecture/walks.ts";

const page = readFileSync(path.resolve(import.meta.dirname, "../ARCHITECTURE.md"), "utf8");
/** As many as can be held in the head. */
const maxSteps = 20;

test("a step of a walk that cannot be taken is told: a missing file, an import that is not there, a port that is not shared", () => {
  const sources = [
    readSource(
      "keel/src/a/one.ts",
      'import { two } from "./two.ts";\nimport type { P } from "../ports/p.ts";\n',
    ),
    readSource("keel/src/a/two.ts", "export const two = 2;\n"),
    readSource("keel/src/b/three.ts", 'import type { P } from "../ports/p.ts";\n'),
  ];
  const [walk] = walksIn(
    [
      "### One thing",
      "- `a/one.ts` begins",
      "  - `a/two.ts` is imported",
      "  - `b/three.ts` is reached through `ports/p.ts`",
      "    - `a/two.ts` is not imported there",
      "  - `a/two.ts` is not reached through `ports/p.ts`",
      "  - `a/four.ts` is not there",
      "## Another heading",
      "- `a/five.ts`",
    ].join("\n"),
  );
  expect(walk && brokenSteps(walk, sources)).toEqual([
    "One thing: b/three.ts does not import a/two.ts",
    "One thing: a/one.ts and a/two.ts do not share ports/p.ts",
    "One thing: there is no a/four.ts",
  ]);
});

test("the walks of one prompt and of one permission lead from file to file, and are short", () => {
  const walks = walksIn(page);
  expect(walks.map(({ title }) => title)).toEqual(["One prompt", "One permission"]);
  const sources = readRepository();
  for (const walk of walks) {
    expect(brokenSteps(walk, sources)).toEqual([]);
    expect(walk.steps.length).toBeGreaterThan(8);
    expect(walk.steps.length).toBeLessThanOrEqual(maxSteps);
  }
});
