/**
 * Brings a plugin from a repository or a package registry into Keel's own folder. Only files are fetched: no script of
 * a package runs, and no hook of a repository.
 */
import { mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import path from "node:path";
import { fault } from "../../kernel/fault.ts";
import type { RunProgram } from "../../ports/hook-programs.ts";

export type PluginSource =
  | { readonly kind: "folder"; readonly path: string }
  | { readonly kind: "git"; readonly url: string; readonly revision: string | undefined }
  | { readonly kind: "npm"; readonly name: string };

/** A folder unless it says otherwise: `git+URL`, `git@host:…`, an address that ends in `.git`, or `npm:NAME`. */
export function sourceOf(given: string): PluginSource {
  if (given.startsWith("npm:")) {
    const name = given.slice("npm:".length);
    if (!/^(?:@[a-z0-9][a-z0-9._~-]*\/)?[a-z0-9][a-z0-9._~-]*(?:@[\w.^~]+)?$/i.test(name))
      throw fault("usage", { reason: `${given} names no package.` });
    return { kind: "npm", name };
  }
  const isGit =
    given.startsWith("git+") ||
    /^git@[\w.-]+:/.test(given) ||
    /^(?:https|ssh):\/\/\S+\.git(?:#\S+)?$/.test(given);
  if (!isGit) return { kind: "folder", path: given };
  const [url = "", revision] = given.replace(/^git\+/, "").split("#");
  // A dash would be an option, and git knows addresses that run programs.
  if (
    !/^(?:https:\/\/|ssh:\/\/|file:\/\/|git@)[^\s-]/.test(url) ||
    url.includes("::") ||
    revision?.startsWith("-")
  )
    throw fault("usage", { reason: `${given} is no address of a repository that is fetched from.` });
  return { kind: "git", url, revision };
}

const maxOutput = 100_000;

type PluginFetchContext = {
  readonly run: RunProgram;
  /** Where plugins are kept. */
  readonly folder: string;
  readonly signal: AbortSignal;
};

/** The fetched folder, in a place of its own until `keep` gives it its name. Throws `usage` with what went wrong. */
export async function fetchPlugin(
  source: Exclude<PluginSource, { kind: "folder" }>,
  context: PluginFetchContext,
): Promise<{ path: string; keep(name: string): Promise<string>; drop(): Promise<void> }> {
  await mkdir(context.folder, { recursive: true, mode: 0o700 });
  const place = await mkdtemp(path.join(context.folder, ".new-"));
  const drop = (): Promise<void> => rm(place, { recursive: true, force: true });
  try {
    const root =
      source.kind === "git" ? await clone(source, place, context) : await unpack(source, place, context);
    return {
      path: root,
      drop,
      async keep(name) {
        const kept = path.join(context.folder, name);
        await rm(kept, { recursive: true, force: true });
        await rename(root, kept);
        await drop();
        return kept;
      },
    };
  } catch (thrown) {
    await drop();
    throw thrown;
  }
}

async function clone(
  { url, revision }: Extract<PluginSource, { kind: "git" }>,
  place: string,
  context: PluginFetchContext,
): Promise<string> {
  const root = path.join(place, "plugin");
  const safe = ["-c", "core.hooksPath=/dev/null", "-c", "protocol.ext.allow=never"];
  const branch = revision === undefined ? [] : ["--branch", revision];
  await runOrFail(
    { file: "git", args: [...safe, "clone", "--quiet", "--depth", "1", ...branch, "--", url, root], place },
    context,
  );
  // What is kept are files: whoever wants the history has the repository.
  await rm(path.join(root, ".git"), { recursive: true, force: true });
  return root;
}

async function unpack(
  { name }: Extract<PluginSource, { kind: "npm" }>,
  place: string,
  context: PluginFetchContext,
): Promise<string> {
  await runOrFail(
    { file: "npm", args: ["pack", name, "--ignore-scripts", "--silent", "--pack-destination", place], place },
    context,
  );
  const packed = (await readdir(place)).find((file) => file.endsWith(".tgz"));
  if (packed === undefined) throw fault("usage", { reason: `npm packed nothing for ${name}.` });
  await runOrFail({ file: "tar", args: ["-xzf", packed, "--no-same-owner"], place }, context);
  return path.join(place, "package");
}

async function runOrFail(
  { file, args, place }: { file: string; args: readonly string[]; place: string },
  { run, signal }: PluginFetchContext,
): Promise<void> {
  const env = { GIT_TERMINAL_PROMPT: "0", GIT_CONFIG_NOSYSTEM: "1" };
  const end = await run({ file, args, cwd: place, env, input: "", maxBytes: maxOutput }, signal).catch(() => {
    throw fault("usage", { reason: `${file} is needed for this and cannot be run.` });
  });
  if (end.exitCode === 0) return;
  const why = (end.stderr.trim() || end.stdout.trim()).split("\n").at(-1) ?? "";
  throw fault("usage", { reason: `${file} failed: ${why.slice(0, 500) || `code ${end.exitCode}`}.` });
}
