import { expect, test } from "vitest";
import { readRepository } from "./architecture/repository.ts";
import { longFiles, MAX_LINES, SMELL_LINES } from "./architecture/rules.ts";

test("no file is longer than two screens", () => {
  const sources = readRepository();
  const smelly = longFiles(sources, SMELL_LINES);
  // A hint, not a failure: these will be too long soon.
  if (smelly.length > 0) process.stdout.write(`over ${SMELL_LINES} lines: ${smelly.join("; ")}\n`);
  expect(longFiles(sources, MAX_LINES)).toEqual([]);
});
