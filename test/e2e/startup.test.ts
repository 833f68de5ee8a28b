// What a start loads, read from what the bundler put where: an answer must not pay for what it does not use.
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

type Imports = { readonly now: readonly string[]; readonly late: readonly string[] };

const metafile = path.resolve(import.meta.dirname, "../../keel/dist/metafile.json");
const { command }: { command: Record<string, Imports> } = JSON.parse(readFileSync(metafile, "utf8"));

test("the first file loads the table of commands and little else", () => {
  const loaded = loadedWith("keel/src/hosts/cli/main.ts");
  expect(loaded).toContain("keel/src/hosts/cli/command-table.ts");
  expect(loaded.filter((file) => !/^keel\/(package\.json$|src\/(hosts\/cli|kernel)\/)/.test(file))).toEqual(
    [],
  );
});

test("an answer as text loads no testing kit, no command for sessions, no dialect and no foreign schemas", () => {
  const loaded = loadedWith("keel/src/hosts/cli/print/print.ts");
  expect(loaded).toContain("keel/src/engine/session.ts");
  const unused =
    /keel\/src\/(testing|sdk|mcp\/(?!names))\/?|cli\/(sessions-|rehears|doctor|narrator)|store\/(import|memory)|node_modules\/ajv/;
  expect(loaded.filter((file) => unused.test(file))).toEqual([]);
});

test("an answer as text loads no library but those of schemas, of events and of diffs", () => {
  const entries = ["main", "print/root", "print/print"].map((name) => `keel/src/hosts/cli/${name}.ts`);
  const loaded = entries.flatMap(loadedWith);
  const libraries = loaded.flatMap((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []);
  expect(libraries.filter((name) => !["diff", "eventsource-parser", "zod"].includes(name))).toEqual([]);
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
