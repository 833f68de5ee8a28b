/**
 * Starts the measured programs. Each is bundled like the product, because running TypeScript as it is would add the
 * memory of Node's own translator to every figure, and each runs in a process of its own.
 */
import { spawn } from "node:child_process";
import { globSync } from "node:fs";
import { symlink } from "node:fs/promises";
import path from "node:path";
import { build } from "esbuild";
import type { Outcome } from "./program.ts";

export type Programs = {
  /** Runs a program to its end. Throws when it fails, with what it said. */
  run<R>(name: string, options: object): Promise<Outcome<R>>;
  /** Where the bundled program is, for one that stays. */
  pathOf(name: string): string;
};

/** `profileTo`: a folder for CPU profiles of every program that is not a floor. */
export async function bundlePrograms(
  folder: string,
  { profileTo }: { profileTo?: string | undefined } = {},
): Promise<Programs> {
  const here = import.meta.dirname;
  const entryPoints = globSync(["programs/*.ts", "floors/*.ts"], { cwd: here });
  await build({
    absWorkingDir: here,
    entryPoints,
    outdir: folder,
    outbase: here,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node24",
    sourcemap: profileTo === undefined ? false : "linked",
    logLevel: "warning",
    // A CommonJS dependency, once bundled, still calls require() for modules of Node.
    banner: {
      js: 'import { createRequire as benchRequire } from "node:module"; const require = benchRequire(import.meta.url);',
    },
  });
  // What a bundle cannot hold, such as a parser in WebAssembly, is found as from the repository.
  await symlink(path.resolve(here, "../node_modules"), path.join(folder, "node_modules"), "dir");
  const pathOf = (name: string): string => path.join(folder, `${name}.mjs`);
  return {
    pathOf,
    async run<R>(name: string, options: object): Promise<Outcome<R>> {
      const profiled = profileTo !== undefined && name.startsWith("programs/");
      const flags = profiled ? ["--cpu-prof", `--cpu-prof-dir=${profileTo}`] : [];
      const written = await output(process.execPath, [
        "--expose-gc",
        ...flags,
        pathOf(name),
        JSON.stringify(options),
      ]);
      return JSON.parse(written);
    },
  };
}

/** What a program wrote, once it has ended well. */
function output(command: string, parameters: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, parameters, { stdio: ["ignore", "pipe", "inherit"] });
    const chunks: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.on("error", reject);
    child.on("close", (code, signal) => {
      if (code === 0) resolve(Buffer.concat(chunks).toString("utf8"));
      else reject(new Error(`${path.basename(parameters.at(-2) ?? command)} ended with ${code ?? signal}`));
    });
  });
}
