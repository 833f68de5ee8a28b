// How large a room and a file may be. A bound that hurts is changed here, with its reason, and never by bending the code.
import path from "node:path";
import { expect, test } from "vitest";
import { layers } from "./architecture/layers.ts";
import { readRepository } from "./architecture/repository.ts";
import { crumbs, longFiles, roomOf, spreadLiterals } from "./architecture/shape.ts";

const sources = readRepository();
const ours = sources.filter(({ file }) => /^(?:keel|web)\/src\//.test(file) && !/\.test\.tsx?$/.test(file));

/** A room is a layer. */
const budgetOf = (room: string): number | undefined => layers[room]?.lines;

test("no file of sources holds more than 300 lines of code, imports and comments not counted", () => {
  // The words of the page are one table, so that it can be translated.
  expect(longFiles(ours.filter(({ file }) => file !== "web/src/words.ts"))).toEqual([]);
});

test("every room of the tree stays within its budget of lines", () => {
  const lines = new Map<string, number>();
  for (const source of ours) {
    const room = roomOf(source.file);
    lines.set(room, (lines.get(room) ?? 0) + source.lines);
  }
  expect(
    [...lines.keys()].filter((room) => budgetOf(room) === undefined),
    "rooms without a budget",
  ).toEqual([]);
  const over = [...lines].filter(([room, count]) => count > (budgetOf(room) ?? 0));
  expect(over.map(([room, count]) => `${room}: ${count} lines of ${budgetOf(room)}`)).toEqual([]);
});

test("a crumb with one importer lives in its importer", () => {
  expect(crumbs(sources).map(({ file, importer }) => `${file} → ${path.basename(importer)}`)).toEqual([]);
});

test("no literal is spread into another literal only to lay out lines", () => {
  expect(spreadLiterals(sources)).toEqual([]);
});
