// What a start loads, read from what the bundler put where: an answer must not pay for what it does not use.
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

type Imports = { readonly now: readonly string[]; readonly late: readonly string[] };

/** By a statement from the first file, or by `import()` at every answer. */
const soonReached = [
  "keel/src/hosts/cli/main.ts",
  "keel/src/hosts/cli/print/root.ts",
  "keel/src/hosts/cli/print/print.ts",
  "keel/src/app/open-session.ts",
  "keel/src/models/anthropic/model.ts",
  "keel/src/app/maintenance/keys.ts",
];
const metafile = path.resolve(import.meta.dirname, "../../keel/dist/metafile.json");
const { command }: { command: Record<string, Imports> } = JSON.parse(readFileSync(metafile, "utf8"));

test("the first file loads the table of commands and little else", () => {
  const loaded = loadedWith("keel/src/hosts/cli/main.ts");
  expect(loaded).toContain("keel/src/hosts/cli/command-table.ts");
  expect(
    loaded.filter((file) => !/^keel\/(package\.json$|src\/(app\/flags|hosts\/cli|kernel)\/)/.test(file)),
  ).toEqual([]);
});

test("an answer as text loads no testing kit, no command for sessions, no dialect and no foreign schemas", () => {
  const loaded = soonReached.slice(2).flatMap(loadedWith);
  expect(loaded).toContain("keel/src/engine/session.ts");
  const unused =
    /keel\/src\/(testing|sdk|mcp\/(?!names))\/?|cli\/(sessions-|rehears|doctor|narrator)|store\/(import|memory)|node_modules\/ajv/;
  expect(loaded.filter((file) => unused.test(file))).toEqual([]);
});

test("an answer as text loads no library but those of schemas, of events and of diffs", () => {
  const loaded = soonReached.flatMap(loadedWith);
  const libraries = loaded.flatMap((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []);
  expect(libraries.filter((name) => !["diff", "eventsource-parser", "zod"].includes(name))).toEqual([]);
});

test("before the first word of an answer at most 250 files are loaded", () => {
  // Those that every answer reaches by `import()` are in the same bundle, and count too.
  const loaded = new Set(soonReached.flatMap(loadedWith));
  const files = [...loaded].filter((file) => /^(keel\/src|node_modules)\//.test(file));
  expect(files.length).toBeLessThanOrEqual(250);
});

test("the executable of an SDK loads its wire first, and what a session needs beside it", () => {
  const loaded = loadedWith("keel/src/hosts/executable/main.ts");
  expect(loaded).toContain("keel/src/sdk/control/frames.ts");
  const unused =
    /keel\/src\/(testing|engine|store|models|tools|mcp|workspace)\/|sdk\/(opened|process\/(child|process-session))|node_modules\/(ajv|@modelcontextprotocol)/;
  expect(loaded.filter((file) => unused.test(file))).toEqual([]);
});

/** The source, and everything that it imports by a statement. */
function loadedWith(entry: string): string[] {
  if (!command[entry]) throw new Error(`${entry} is not in the bundle`);
  const seen = new Set([entry]);
  for (const name of seen)
    for (const next of command[name]?.now ?? []) if (!next.startsWith("node:")) seen.add(next);
  return [...seen];
}
