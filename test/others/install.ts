// Installs programs of other people from the registry, at exact versions: as they are published, or with Keel's package
// under the name of the SDK wherever something asks for it.
import { execFile } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

export const sdkName = "@anthropic-ai/claude-agent-sdk";
/** The newest that the registry had when the reference was written: one version for all, so that it is fetched once. */
export const sdkVersion = "0.3.325";

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, "../..");
// Their install scripts are not run: what a script of ours needs of a program works without them.
const quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"];

/** Stands for the tarball of what was built. */
export const packed = "packed";

export type Packages = Readonly<Record<string, string>>;

/** Packs what was built, as `npm publish` would; the path of the tarball. */
export async function pack(folder: string): Promise<string> {
  const { stdout } = await run("npm", ["pack", "./keel", "--pack-destination", folder, "--loglevel=error"], {
    cwd: root,
  });
  return path.join(folder, stdout.trim().split("\n").at(-1) ?? "");
}

/** `sdk` is what stands under its name: a version of the registry, or `file:` and a tarball. */
export async function install(
  folder: string,
  { packages, sdk }: { packages: Packages; sdk: string },
): Promise<void> {
  await mkdir(folder, { recursive: true });
  // What is asked for directly cannot be overridden by another wish: it is that wish.
  const wanted = { ...packages, ...(Object.hasOwn(packages, sdkName) ? { [sdkName]: sdk } : {}) };
  const about = { private: true, type: "module", dependencies: wanted, overrides: { [sdkName]: sdk } };
  await writeFile(path.join(folder, "package.json"), JSON.stringify(about, null, 2));
  await run("npm", ["install", ...quiet], { cwd: folder, maxBuffer: 64 * 1024 * 1024 });
}

export const uninstall = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true });
