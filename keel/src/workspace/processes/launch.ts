/** How a program becomes a process: a fixed argument list, never a string that is put together. */
import { readdirSync, readFileSync } from "node:fs";
import type { ConfinedRun } from "../../ports/sandbox.ts";

/** A shell with its command, a server, a hook: whatever is to run. */
export type Program = {
  /** A path, or a name that is looked for on the path of `env`. */
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
};

/** What `spawn` is given; the process is the leader of a session of its own and has no terminal. */
export type Launched = {
  readonly file: string;
  readonly args: readonly string[];
  /** A doorkeeper is not the program: it waits for it and ends as it ends. Only a killing signal is for it too. */
  readonly role: "program" | "doorkeeper";
  /** Where it is confined: who knows what it was refused. */
  readonly run?: ConfinedRun | undefined;
  readonly options: {
    readonly cwd: string;
    readonly env: Readonly<Record<string, string>>;
    readonly detached: true;
  };
};

/** The seam for whatever is to stand between Keel and a program: a guard, a sandbox. */
export type Launch = (program: Program) => Launched;

/** How programs are started now, and how to hear of their end. */
export type Post = {
  readonly launch: Launch;
  /** The process table in which what it guards can be found, with the numbers of that table. */
  readonly table: string;
  /** Calls back when one whom nobody waits for has ended, until what it returns is called; undefined where nobody tells. */
  readonly onEnded: ((listener: () => void) => () => void) | undefined;
  /** Where programs are confined: the folder that they and Keel both see. */
  readonly exchange?: string | undefined;
};

export function plainLaunch(leaked: readonly number[] = leakedDescriptors()): Launch {
  const closing = closingText(leaked);
  return ({ file, args, cwd, env }) => {
    const rest = { role: "program", options: { cwd, env, detached: true } } as const;
    // Only bash can close descriptors of more than one digit; where it is absent they stay open.
    if (closing === "" || file === "sh") return { file, args, ...rest };
    return { file: "bash", args: ["-c", `exec "$@"${closing}`, "bash", file, ...args], ...rest };
  };
}

/** What a shell is told to close descriptors. */
export const closingText = (descriptors: readonly number[]): string =>
  descriptors.map((descriptor) => ` ${descriptor}>&-`).join("");

/**
 * Descriptors that whoever started Keel left open and that a program would inherit. Node closes low ones itself.
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
