// A recipe of AGENTS.md, followed on a copy of the tree: it may write as many files by hand as it says, the copy must
// compile, and what was added must be seen to work there.
import { execFile } from "node:child_process";
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const root = path.resolve(import.meta.dirname, "../..");
const run = promisify(execFile);

/** The copy, as a recipe sees it. Paths are those of the repository. */
export type RecipeTree = {
  /** By hand: `after` follows the one place that has `before`. */
  insert(file: string, before: string, after: string): Promise<void>;
  /** By hand: a new file, or another text for one that is there. */
  write(file: string, text: string): Promise<void>;
  /** What a command writes is not counted. Returns what it says. */
  run(command: string, ...given: string[]): Promise<string>;
  /** A program that stands at the root of the copy; returns the JSON that it prints last. */
  program(text: string): Promise<unknown>;
};

/** Writes what the recipe says, and returns what must hold once the copy compiles. */
type Apply = (tree: RecipeTree) => Promise<() => Promise<void>>;

let copy = "";
beforeAll(async () => {
  copy = await mkdtemp(path.join(tmpdir(), "keel-recipes-"));
  const { stdout } = await run("git", ["ls-files", "-co", "--exclude-standard", "-z"], {
    cwd: root,
    maxBuffer: 64 * 1024 * 1024,
  });
  const files = stdout.split("\0").filter(Boolean);
  for (const folder of new Set(files.map((file) => path.dirname(file))))
    await mkdir(path.join(copy, folder), { recursive: true });
  // A file that was deleted and not yet committed is still listed.
  await Promise.all(
    files.map((file) => copyFile(path.join(root, file), path.join(copy, file)).catch(() => undefined)),
  );
  await symlink(path.join(root, "node_modules"), path.join(copy, "node_modules"));
});
afterAll(() => rm(copy, { recursive: true, force: true }));

/** `files` is the number in AGENTS.md. One copy serves all recipes of a file: what one wrote is put back. */
export function recipe(name: string, files: number, apply: Apply): void {
  test(`${name} takes ${files} files by hand`, { timeout: 180_000 }, async () => {
    const written = new Map<string, string | undefined>();
    try {
      const holds = await apply(treeAt(written));
      expect([...written.keys()], "files written by hand").toHaveLength(files);
      expect(await readFile(path.join(copy, "AGENTS.md"), "utf8")).toContain(`**${name}** (${files}`);
      const info = path.join(copy, ".tsbuildinfo");
      await execute(path.join(copy, "node_modules/.bin/tsc"), ["-p", ".", "--tsBuildInfoFile", info]);
      await holds();
    } finally {
      for (const [file, before] of written)
        if (before === undefined) await rm(path.join(copy, file));
        else await writeFile(path.join(copy, file), before);
    }
  });
}

function treeAt(written: Map<string, string | undefined>): RecipeTree {
  const write = async (file: string, text: string): Promise<void> => {
    const target = path.join(copy, file);
    if (!written.has(file)) written.set(file, await readFile(target, "utf8").catch(() => undefined));
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(target, text);
  };
  return {
    write,
    async insert(file, before, after) {
      const parts = (await readFile(path.join(copy, file), "utf8")).split(before);
      expect(parts, `${file} has one place for this: ${before}`).toHaveLength(2);
      await write(file, parts.join(before + after));
    },
    run: (command, ...given) => execute(command, given),
    async program(text) {
      await writeFile(path.join(copy, "recipe.ts"), text);
      const said = await execute(process.execPath, ["recipe.ts"]);
      return JSON.parse(said.trim().split("\n").at(-1) ?? "");
    },
  };
}

/** In the copy. What it says when it fails is what the test fails with. */
async function execute(command: string, given: readonly string[]): Promise<string> {
  try {
    return (await run(command, given, { cwd: copy, maxBuffer: 64 * 1024 * 1024 })).stdout;
  } catch (thrown) {
    const { stdout = "", stderr = "" } = thrown as { stdout?: string; stderr?: string };
    throw new Error(`${path.basename(command)} ${given.join(" ")}:\n${stdout}${stderr}`, { cause: thrown });
  }
}
