// What a start loads, read from what the bundler put where: an answer must not pay for what it does not use.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { reply } from "../../keel/src/testing/reply.ts";
import { verifies } from "../support/verifies.ts";
import { openStage } from "./stage.ts";

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
const preload = path.resolve(import.meta.dirname, "../fixtures/trace-start.cjs");
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
  // How long that takes is measured by `npm run bench -- start`: no test asserts a time.
  verifies("S4.33");
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

test("settings and keys are read side by side, and the keychain is asked before anything else is waited for", async () => {
  verifies("S4.33", "S4.84");
  const key = "sk-test-of-the-keychain-0123456789";
  const stage = await openStage({ replies: [reply("Hello.")] }, { key });
  mkdirSync(stage.home, { recursive: true });
  writeFileSync(path.join(stage.home, "settings.json"), "{}");
  writeFileSync(path.join(stage.project, "AGENTS.md"), "Be brief.");
  // Kept in the keychain: the file only says that there is one.
  const kept = { keys: { anthropic: { baseUrl: stage.server.url } } };
  writeFileSync(path.join(stage.home, "auth.json"), JSON.stringify(kept), { mode: 0o600 });
  const trace = path.join(stage.home, "trace.txt");
  const env = { NODE_OPTIONS: `--require ${preload}`, KEEL_TEST_TRACE: trace };
  const ended = await stage.run(["-p", "hi"], { env });
  expect(ended).toMatchObject({ code: 0, stdout: "Hello.\n" });

  const lines = readFileSync(trace, "utf8").split("\n");
  const at = (what: "begin" | "end" | "keychain", name: string): number => {
    const found = lines.findIndex((line) => line.startsWith(`${what} `) && line.endsWith(name));
    if (found < 0) throw new Error(`the start had no ${what} of ${name}`);
    return found;
  };
  // All have begun before the first of them has ended: nobody waits for another's disk.
  const early = ["managed-settings.json", "home/settings.json", "home/trust.json", "home/auth.json"];
  const begun = Math.max(...early.map((name) => at("begin", name)));
  expect(begun).toBeLessThan(Math.min(...early.map((name) => at("end", name))));
  // What the keychain says is there before instructions are looked for, and before a session has a log.
  expect(at("keychain", "anthropic")).toBeLessThan(at("begin", "AGENTS.md"));
  expect(at("keychain", "anthropic")).toBeLessThan(at("begin", ".lock"));
});

/** The source, and everything that it imports by a statement. */
function loadedWith(entry: string): string[] {
  if (!command[entry]) throw new Error(`${entry} is not in the bundle`);
  const seen = new Set([entry]);
  for (const name of seen)
    for (const next of command[name]?.now ?? []) if (!next.startsWith("node:")) seen.add(next);
  return [...seen];
}
