/** How a command becomes a process: a fixed argument list, never a string that is put together. */
import { readdirSync, readFileSync } from "node:fs";

export type Command = {
  readonly text: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly shell: "bash" | "sh";
};

export type Launched = {
  readonly file: string;
  readonly args: readonly string[];
  readonly options: {
    readonly cwd: string;
    readonly env: Readonly<Record<string, string>>;
    readonly detached: true;
  };
};

/** The seam for whatever is to stand between Keel and a command: a guard, a sandbox. */
export type Launch = (command: Command) => Launched;

/** `bash -c`, as the leader of its own process group and without a terminal. */
export function plainLaunch(leaked: readonly number[] = leakedDescriptors()): Launch {
  const closing = leaked.map((descriptor) => ` ${descriptor}>&-`).join("");
  return ({ text, cwd, env, shell }) => ({
    file: shell,
    // Only bash can close descriptors of more than one digit.
    args: closing && shell === "bash" ? ["-c", `exec bash -c "$0"${closing}`, text] : ["-c", text],
    options: { cwd, env, detached: true },
  });
}

/**
 * Descriptors that whoever started Keel left open and that a command would inherit. Node closes low ones itself.
 * Looked at once: what is opened later by Node is never inherited.
 */
export function leakedDescriptors(): number[] {
  try {
    return readdirSync("/proc/self/fd").map(Number).filter(isInherited);
  } catch {
    return []; // No procfs: nothing can be known here.
  }
}

function isInherited(descriptor: number): boolean {
  const closeOnExec = 0o2000000;
  if (descriptor <= 2) return false;
  try {
    const flags =
      /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8"))?.[1] ?? "0";
    return (Number.parseInt(flags, 8) & closeOnExec) === 0;
  } catch {
    return false; // Closed since it was listed.
  }
}
