/** Where Keel's own files stand: `KEEL_HOME`, else `~/.keel`. */
import { homedir } from "node:os";
import path from "node:path";

export type Environment = Readonly<Record<string, string | undefined>>;

export type Paths = {
  readonly home: string;
  readonly settings: string;
};

/** A relative `KEEL_HOME` is meant from where the user stands, so it is resolved against `cwd`. */
export function pathsOf({
  env,
  cwd,
  home,
}: {
  env: Environment;
  cwd: string;
  home?: string | undefined;
}): Paths {
  const root = path.resolve(cwd, home ?? (env["KEEL_HOME"]?.trim() || path.join(userHome(env), ".keel")));
  return { home: root, settings: path.join(root, "settings.json") };
}

const userHome = (env: Environment): string => env["HOME"] || homedir();
