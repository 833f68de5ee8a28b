// A recipe of AGENTS.md, followed on a copy of the tree: it may write as many files by hand as it says, the copy must
// compile and keep to the rules of the tree, and what was added must be seen to work there.
import { execFile } from "node:child_process";
import { copyFile, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const root = path.resolve(import.meta.dirname, "../..");
/** Of the run that we are in, nothing: neither the index of a hook of git nor the report of these tests. */
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(?:GIT|VITEST|KEEL)_/.test(name)),
);
/** Beside the copy: the same sources are run again and again, and need not be compiled anew each time. */
const compiled = (): string => `${copy}-compiled`;
const run = (command: string, given: readonly string[], cwd: string) =>
  promisify(execFile)(command, given, {
    cwd,
    env: { ...env, NODE_COMPILE_CACHE: compiled() },
    maxBuffer: 64 * 1024 * 1024,
  });

/** The copy, as a recipe sees it. Paths are those of the repository. */
export type RecipeTree = {
  /** By hand: `after` follows the one place that has `before`. */
  insert(file: string, before: string, after: string): Promise<void>;
  /** By hand: a new file. */
  write(file: string, text: string): Promise<void>;
  /** An npm script; what it writes is not counted as written by hand. */
  npm(script: string, ...given: string[]): Promise<void>;
  /** Files of unit tests, which must pass once all recipes are followed. */
  test(...files: string[]): void;
  /** A program that stands at the root of the copy; returns the JSON that it prints last. */
  program(text: string): Promise<unknown>;
};

/** Writes what the recipe says, and may return what must also hold once the copy compiles. */
type Apply = (tree: RecipeTree) => Promise<(() => Promise<void>) | void>;

let copy = "";
const recipes: (() => Promise<Followed | undefined>)[] = [];
let found: Found | undefined;

/** What is wrong with the copy once all recipes are followed. */
type Found = {
  readonly compileErrors: readonly string[];
  /** By the name of the recipe. */
  readonly forbidden: Readonly<Record<string, readonly string[]>>;
  /** By file: what failed in it. */
  readonly tests: Readonly<Record<string, readonly string[]>>;
};

// All are followed on one copy, one after the other, and compiled, tested and held to the rules once: that takes longer
// than all the rest.
beforeAll(async () => {
  copy = await realpath(await mkdtemp(path.join(tmpdir(), "keel-recipes-")));
  const files = listed(await run("git", ["ls-files", "-co", "--exclude-standard", "-z"], root));
  for (const folder of new Set(files.map((file) => path.dirname(file))))
    await mkdir(path.join(copy, folder), { recursive: true });
  // A file that was deleted and not yet committed is still listed.
  await Promise.all(
    files.map((file) => copyFile(path.join(root, file), path.join(copy, file)).catch(() => undefined)),
  );
  // What a recipe and its commands write is seen by comparing with the index.
  await execute("git", ["init", "-q"]);
  await writeFile(path.join(copy, ".git/info/exclude"), "/node_modules\n");
  await execute("git", ["add", "-A"]);
  await symlink(path.join(root, "node_modules"), path.join(copy, "node_modules"));
  const followed: Followed[] = [];
  for (const follow of recipes) followed.push(...[await follow()].filter((one) => one !== undefined));
  const compileErrors = await bin("typescript/bin/tsc", "-p", ".").then(
    () => [],
    (thrown: Error) => [thrown.message],
  );
  const sources = followed.map(({ name, written }) => [name, written.filter((file) => file.endsWith(".ts"))]);
  found = {
    compileErrors,
    forbidden: (await program(rulesOver(Object.fromEntries(sources)))) as Found["forbidden"],
    tests: await runTests(followed.flatMap(({ tests }) => tests)),
  };
}, 600_000);
afterAll(async () => {
  for (const folder of [copy, compiled()]) await rm(folder, { recursive: true, force: true });
});

/** `files` is the number in AGENTS.md, which also has that of the files that commands write. */
export function recipe(name: string, files: number, apply: Apply): void {
  const following = Promise.withResolvers<Followed>();
  // One that fails is told by its own test.
  following.promise.catch(() => undefined);
  recipes.push(async () => {
    const byHand = new Set<string>();
    const tests: string[] = [];
    let followed: Followed | undefined;
    try {
      const holds = await apply(treeWith(byHand, tests));
      followed = { name, byHand: [...byHand], tests, written: await writtenFiles(), holds };
      following.resolve(followed);
    } catch (thrown) {
      following.reject(thrown);
    }
    // The next one is compared with the tree as this one leaves it.
    await execute("git", ["add", "-A"]);
    return followed;
  });
  test(`${name} takes ${files} files by hand`, { timeout: 180_000 }, async () => {
    const { byHand, tests, written, holds } = await following.promise;
    expect(byHand, "files written by hand").toHaveLength(files);
    const more = written.length - files;
    const [, promised] = (await readFile(path.join(copy, "AGENTS.md"), "utf8")).split(`**${name}** (`);
    expect(promised?.split(")")[0], "in AGENTS.md").toBe(more > 0 ? `${files} + ${more}` : `${files}`);
    expect(found?.compileErrors, "what does not compile").toEqual([]);
    expect(found?.forbidden[name], "what the architecture forbids").toEqual([]);
    for (const file of tests) expect(found?.tests[file], file).toEqual([]);
    await holds?.();
  });
}

type Followed = {
  readonly name: string;
  readonly byHand: readonly string[];
  readonly tests: readonly string[];
  readonly written: readonly string[];
  readonly holds: (() => Promise<void>) | void;
};

function treeWith(byHand: Set<string>, tests: string[]): RecipeTree {
  const write = async (file: string, text: string): Promise<void> => {
    byHand.add(file);
    await mkdir(path.dirname(path.join(copy, file)), { recursive: true });
    await writeFile(path.join(copy, file), text);
  };
  return {
    write,
    async insert(file, before, after) {
      const parts = (await readFile(path.join(copy, file), "utf8")).split(before);
      expect(parts, `${file} has one place for this: ${before}`).toHaveLength(2);
      await write(file, parts.join(before + after));
    },
    npm: async (script, ...given) => void (await execute("npm", ["run", script, "--", ...given])),
    test: (...files) => void tests.push(...files),
    program,
  };
}

async function writtenFiles(): Promise<string[]> {
  const changed = await run("git", ["diff", "--name-only", "-z"], copy);
  const added = await run("git", ["ls-files", "-o", "--exclude-standard", "-z"], copy);
  return [...listed(changed), ...listed(added)];
}

const listed = ({ stdout }: { stdout: string }): string[] => stdout.split("\0").filter(Boolean);

/** What failed in each of these files of the copy; nothing of one that passed. */
async function runTests(files: readonly string[]): Promise<Found["tests"]> {
  const report = path.join(compiled(), "tests.json");
  const words = ["run", "--project", "unit", "--reporter=json", `--outputFile=${report}`, ...files];
  const said = await bin("vitest/vitest.mjs", ...words).catch((thrown: Error) => thrown.message);
  const { testResults }: TestReport = JSON.parse(
    await readFile(report, "utf8").catch(() => '{"testResults":[]}'),
  );
  const failuresOf = (file: string): readonly string[] => {
    const ran = testResults.find(({ name }) => name === path.join(copy, file));
    if (!ran || ran.assertionResults.length === 0) return [`It was not run: ${said}`];
    const failed = ran.assertionResults.filter(({ status }) => status !== "passed");
    const failures = failed.map(({ fullName, failureMessages }) => [fullName, ...failureMessages].join("\n"));
    return ran.status === "passed" ? failures : [ran.message, ...failures];
  };
  return Object.fromEntries(files.map((file) => [file, failuresOf(file)]));
}

type TestReport = {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
};

/** The rules of the copy, of which a recipe may have changed a row, over the files that each recipe wrote. */
const rulesOver = (written: Readonly<Record<string, readonly string[]>>): string => `
  import { readFileSync } from "node:fs";
  import { barrelFiles, forbiddenImports, strayCapabilities } from "./test/architecture/rules.ts";
  import { layers } from "./test/architecture/layers.ts";
  import { longFiles, moduleState, roomOf } from "./test/architecture/shape.ts";
  import { readSource } from "./test/architecture/source.ts";
  const rules = [forbiddenImports, strayCapabilities, barrelFiles];
  const unbounded = (sources) => sources.flatMap(({ file }) => (layers[roomOf(file)]?.lines ? [] : [file + ": no budget"]));
  const shapes = [moduleState, longFiles, unbounded];
  const found = Object.entries(${JSON.stringify(written)}).map(([name, files]) => {
    const read = files.map((file) => readSource(file, readFileSync(file, "utf8")));
    const built = read.filter(({ file }) => file.startsWith("keel/src/") && !file.endsWith(".test.ts"));
    return [name, [...rules.flatMap((rule) => rule(read)), ...shapes.flatMap((rule) => rule(built))]];
  });
  console.log(JSON.stringify(Object.fromEntries(found)));`;

async function program(text: string): Promise<unknown> {
  const file = path.join(copy, "recipe.ts");
  await writeFile(file, text);
  const said = await execute(process.execPath, [file]);
  await rm(file);
  return JSON.parse(said.trim().split("\n").at(-1) ?? "");
}

/** A program of a package, with the Node of this test. */
const bin = (name: string, ...given: string[]): Promise<string> =>
  execute(process.execPath, [path.join(root, "node_modules", name), ...given]);

/** In the copy. What it says when it fails is what the test fails with. */
async function execute(command: string, given: readonly string[]): Promise<string> {
  try {
    return (await run(command, given, copy)).stdout;
  } catch (thrown) {
    const { stdout = "", stderr = "" } = thrown as { stdout?: string; stderr?: string };
    throw new Error(`${path.basename(command)} ${given.join(" ")}:\n${stdout}${stderr}`, { cause: thrown });
  }
}
