/** Where Keel's own files stand: `KEEL_HOME`, else `~/.keel`; and the places that are read beside it. */
import { homedir } from "node:os";
import path from "node:path";

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

export type Paths = {
  readonly home: string;
  readonly settings: string;
  /** Which projects are trusted: outside of every one of them. */
  readonly trust: string;
  /** Locks and leases. */
  readonly run: string;
  /** What an administrator says; the first that exists is the only one. */
  readonly managed: readonly string[];
  /** A second source of the same form, read and never written. */
  readonly compatible: string | undefined;
};

/** A relative `KEEL_HOME` is meant from where the user stands, so it is resolved against `cwd`. */
export function pathsOf({
  env,
  cwd,
  home,
}: {
  env: EnvironmentVariables;
  cwd: string;
  home?: string | undefined;
}): Paths {
  const root = path.resolve(cwd, home ?? (env["KEEL_HOME"]?.trim() || path.join(userHome(env), ".keel")));
  const named = env["KEEL_MANAGED_SETTINGS"]?.trim();
  return {
    home: root,
    settings: path.join(root, "settings.json"),
    trust: path.join(root, "trust.json"),
    run: path.join(root, "run"),
    // The one of the machine comes first: a variable must not be a way around it.
    managed: [machineSettings, ...(named ? [path.resolve(cwd, named)] : [])],
    compatible: env["HOME"] ? path.join(env["HOME"], ".claude", "settings.json") : undefined,
  };
}

const machineSettings =
  process.platform === "win32"
    ? "C:\\ProgramData\\keel\\managed-settings.json"
    : "/etc/keel/managed-settings.json";

/** The folders of a person's own files: Keel's, and then that of the second source. */
export const ownFolders = ({ home, compatible }: Paths): string[] => [
  home,
  ...(compatible === undefined ? [] : [path.dirname(compatible)]),
];

/** The folders in which a project's settings are looked for, the stronger first. */
export const projectFolders = [".keel", ".claude"] as const;

/** Folders of files, beside the settings of a person, a project, a plugin or an administrator. */
export const folderKinds = ["commands", "agents", "skills", "output-styles", "tools"] as const;
export type FolderKind = (typeof folderKinds)[number];

export const userHome = (env: EnvironmentVariables): string => env["HOME"] || homedir();
