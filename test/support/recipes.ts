// A recipe of AGENTS.md, followed on a copy of the tree: it may write as many files by hand as it says, the copy must
// compile and keep to the rules of the tree, and what was added must be seen to work there.
import { execFile } from "node:child_process";
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const root = path.resolve(import.meta.dirname, "../..");
/** Of the run that we are in, nothing: neither the index of a hook of git nor the report of these tests. */
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(?:GIT|VITEST|KEEL)_/.test(name)),
);
const run = (command: string, given: readonly string[], cwd: string) =>
  promisify(execFile)(command, given, { cwd, env, maxBuffer: 64 * 1024 * 1024 });

/** The copy, as a recipe sees it. Paths are those of the repository. */
export type RecipeTree = {
  /** By hand: `after` follows the one place that has `before`. */
  insert(file: string, before: string, after: string): Promise<void>;
  /** By hand: a new file. */
  write(file: string, text: string): Promise<void>;
  /** An npm script; what it writes is not counted as written by hand. */
  npm(script: string, ...given: string[]): Promise<void>;
  /** Files of unit tests, which must pass. */
  test(...files: string[]): Promise<void>;
  /** A program that stands at the root of the copy; returns the JSON that it prints last. */
  program(text: string): Promise<unknown>;
};

/** Writes what the recipe says, and returns what must hold once the copy compiles. */
type Apply = (tree: RecipeTree) => Promise<() => Promise<void>>;

let copy = "";
const recipes: (() => Promise<void>)[] = [];
let compileErrors: readonly string[] = ["nothing was compiled"];

// All are followed on one copy, one after the other, and compiled once: that takes longer than all the rest.
beforeAll(async () => {
  copy = await mkdtemp(path.join(tmpdir(), "keel-recipes-"));
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
  for (const follow of recipes) await follow();
  compileErrors = await bin("typescript/bin/tsc", "-p", ".").then(
    () => [],
    (thrown: Error) => [thrown.message],
  );
}, 600_000);
afterAll(() => rm(copy, { recursive: true, force: true }));

/** `files` is the number in AGENTS.md, which also has that of the files that commands write. */
export function recipe(name: string, files: number, apply: Apply): void {
  const following = Promise.withResolvers<Followed>();
  // One that fails is told by its own test.
  following.promise.catch(() => undefined);
  recipes.push(async () => {
    const byHand = new Set<string>();
    try {
      const holds = await apply(treeWith(byHand));
      following.resolve({ byHand: [...byHand], written: await writtenFiles(), holds });
    } catch (thrown) {
      following.reject(thrown);
    }
    // The next one is compared with the tree as this one leaves it.
    await execute("git", ["add", "-A"]);
  });
  test(`${name} takes ${files} files by hand`, { timeout: 180_000 }, async () => {
    const { byHand, written, holds } = await following.promise;
    expect(byHand, "files written by hand").toHaveLength(files);
    const more = written.length - files;
    const [, promised] = (await readFile(path.join(copy, "AGENTS.md"), "utf8")).split(`**${name}** (`);
    expect(promised?.split(")")[0], "in AGENTS.md").toBe(more > 0 ? `${files} + ${more}` : `${files}`);
    const sources = written.filter((file) => file.endsWith(".ts"));
    expect(compileErrors, "what does not compile").toEqual([]);
    expect(await program(rulesOver(sources)), "what the architecture forbids").toEqual([]);
    await holds();
  });
}

type Followed = {
  readonly byHand: readonly string[];
  readonly written: readonly string[];
  readonly holds: () => Promise<void>;
};

function treeWith(byHand: Set<string>): RecipeTree {
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
    test: async (...files) => void (await bin("vitest/vitest.mjs", "run", "--project", "unit", ...files)),
    program,
  };
}

async function writtenFiles(): Promise<string[]> {
  const changed = await run("git", ["diff", "--name-only", "-z"], copy);
  const added = await run("git", ["ls-files", "-o", "--exclude-standard", "-z"], copy);
  return [...listed(changed), ...listed(added)];
}

const listed = ({ stdout }: { stdout: string }): string[] => stdout.split("\0").filter(Boolean);

/** The rules of the copy, of which a recipe may have changed a row, over the files that it wrote. */
const rulesOver = (files: readonly string[]): string => `
  import { readFileSync } from "node:fs";
  import { barrelFiles, forbiddenImports, strayCapabilities } from "./test/architecture/rules.ts";
  import { layers } from "./test/architecture/layers.ts";
  import { longFiles, moduleState, roomOf } from "./test/architecture/shape.ts";
  import { readSource } from "./test/architecture/source.ts";
  const read = ${JSON.stringify(files)}.map((file) => readSource(file, readFileSync(file, "utf8")));
  const built = read.filter(({ file }) => file.startsWith("keel/src/") && !file.endsWith(".test.ts"));
  const rules = [forbiddenImports, strayCapabilities, barrelFiles];
  const unbounded = (sources) => sources.flatMap(({ file }) => (layers[roomOf(file)]?.lines ? [] : [file + ": no budget"]));
  const shapes = [moduleState, longFiles, unbounded];
  console.log(JSON.stringify([...rules.flatMap((rule) => rule(read)), ...shapes.flatMap((rule) => rule(built))]));`;

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
