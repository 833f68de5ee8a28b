// What a start loads, read from what the bundler put where: an answer must not pay for what it does not use.
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

type Output = {
  readonly entryPoint?: string;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly imports: readonly { readonly path: string; readonly kind: string; readonly external?: boolean }[];
};

const metafile = path.resolve(import.meta.dirname, "../../keel/dist/metafile.json");
const { outputs }: { outputs: Record<string, Output> } = JSON.parse(readFileSync(metafile, "utf8"));

test("the first file loads the table of commands and little else", () => {
  const loaded = loadedWith("keel/src/hosts/cli/main.ts");
  expect(loaded).toContain("keel/src/hosts/cli/commands.ts");
  expect(loaded.filter((file) => !/^keel\/(package\.json$|src\/(hosts\/cli|kernel)\/)/.test(file))).toEqual(
    [],
  );
});

test("an answer as text loads no testing kit, no command for sessions, no dialect and no foreign schemas", () => {
  const loaded = loadedWith("keel/src/hosts/cli/print.ts");
  expect(loaded).toContain("keel/src/engine/session.ts");
  const unused =
    /keel\/src\/(testing|sdk|mcp)\/|cli\/(sessions-|rehears|doctor|narrator)|store\/(import|memory)|node_modules\/ajv/;
  expect(loaded.filter((file) => unused.test(file))).toEqual([]);
});

test("the executable of an SDK loads its wire first, and what a session needs beside it", () => {
  const loaded = loadedWith("keel/src/hosts/cli/stream-json.ts");
  expect(loaded).toContain("keel/src/sdk/control/frames.ts");
  const unused =
    /keel\/src\/(testing|engine|store|models|tools|mcp|workspace)\/|sdk\/(opened|process\/(child|process-session))|node_modules\/(ajv|@modelcontextprotocol)/;
  expect(loaded.filter((file) => unused.test(file))).toEqual([]);
});

/** The sources in the bundle of an entry and in everything that it imports by a statement. */
function loadedWith(entry: string): string[] {
  const start = Object.keys(outputs).find((name) => outputs[name]?.entryPoint === entry);
  if (start === undefined) throw new Error(`${entry} is no entry of the bundle`);
  const seen = new Set([start]);
  for (const name of seen) {
    for (const { path: next, kind, external } of outputs[name]?.imports ?? [])
      if (kind === "import-statement" && !external) seen.add(next);
  }
  return [...seen].flatMap((name) => Object.keys(outputs[name]?.inputs ?? {}));
}
