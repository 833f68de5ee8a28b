/**
 * Asks git about a repository whose settings nobody has to trust: no hook, pager, editor, helper or filter that the
 * repository names is run, nothing is asked on a terminal, and both time and output are bounded.
 */

import { execFile } from "node:child_process";
import { constants, setPriority } from "node:os";
import { no, type Refused } from "../../kernel/result.ts";
import { commandEnvironment, type ProcessEnvironment } from "../processes/environment.ts";

export type GitAnswer = { readonly ok: true; readonly text: string; readonly cut: boolean } | Refused;

/** `input` is what it can read. What is done `behind` gives way to whatever else the machine has to do. */
export type RunGit = (
  args: readonly string[],
  signal: AbortSignal,
  input?: string,
  rank?: "behind",
) => Promise<GitAnswer>;

export type GitPlace = {
  readonly cwd: string;
  readonly env: ProcessEnvironment;
  readonly maxBytes?: number;
  /** `latin1` keeps every byte as one character, both ways. */
  readonly encoding?: "utf8" | "latin1";
  /** In place of the usual time that one call may take. */
  readonly maxMs?: number;
};

const usualMs = 20_000;
/** What gives way to others takes as much longer where there are many. */
const behindTimes = 3;
const usualBytes = 2 * 1024 * 1024;

export function gitIn({
  cwd,
  env,
  maxBytes = usualBytes,
  encoding = "utf8",
  maxMs = usualMs,
}: GitPlace): RunGit {
  const run: RunGit = (args, signal, input, rank) =>
    new Promise((resolve) => {
      const child = execFile(
        "git",
        ["--no-optional-locks", "--no-pager", ...quiet, ...args],
        {
          cwd,
          env: { ...commandEnvironment(env), GIT_TERMINAL_PROMPT: "0", GIT_PAGER: "cat", LC_ALL: "C" },
          timeout: rank === "behind" ? behindTimes * maxMs : maxMs,
          maxBuffer: maxBytes,
          killSignal: "SIGKILL",
          signal,
          encoding,
        },
        (error, stdout, stderr) => {
          const isCut = error?.code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER";
          if (!error || isCut) return resolve({ ok: true, text: stdout, cut: isCut });
          resolve(no(stderr.trim().split("\n")[0]?.slice(0, 300) || error.message.slice(0, 300)));
        },
      );
      if (rank === "behind") giveWay(child.pid);
      // One that ends without reading says why by its end.
      child.stdin?.on("error", () => undefined);
      child.stdin?.end(input ?? "", encoding);
    });
  let known: Promise<readonly string[]> | undefined;
  return async (args, signal, input, rank) => {
    known ??= filtersOff(run, signal);
    return run([...(await known), ...args], signal, input, rank);
  };
}

/** Where it has ended already, or the machine does not let us, it runs as others do. */
function giveWay(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // Said above.
  }
}

/** Settings for one call, as git takes them. */
export const settings = (...given: readonly string[]): string[] => given.flatMap((each) => ["-c", each]);

/** No program that a repository names is run. */
export const inert: readonly string[] = settings("core.fsmonitor=false", "core.hooksPath=/dev/null");
const quiet: readonly string[] = [
  ...inert,
  ...settings("core.askPass=true", "core.sshCommand=false", "credential.helper=", "protocol.allow=never"),
  ...settings("diff.external="),
];

/** A repository may name programs through which git passes files: each of them by its name, without effect. */
async function filtersOff(run: RunGit, signal: AbortSignal): Promise<readonly string[]> {
  const found = await run(["config", "--get-regexp", "--name-only", "^(filter|diff|merge)\\."], signal);
  if (!found.ok) return [];
  const names = found.text.split("\n").filter((name) => /^(?:filter|diff|merge)\..+\.[a-z]+$/i.test(name));
  return [...new Set(names)]
    .slice(0, 500)
    .flatMap((name) =>
      /\.required$/i.test(name)
        ? settings(`${name}=false`)
        : /\.(?:clean|smudge|process|command|textconv|driver)$/i.test(name)
          ? settings(`${name}=`)
          : [],
    );
}
