/**
 * The program that searches: ripgrep from its package, else from the user's path. A run of it gives its output as it
 * comes, within a time and a size, and the truth about its end.
 */
import { spawn } from "node:child_process";
import { constants } from "node:fs";
import { access, type FileHandle } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import type { Refused } from "../../kernel/result.ts";
import type { SearchEnd } from "../../ports/search.ts";

export type SearchProgram = { readonly file: string; readonly from: "package" | "path" };

const name = process.platform === "win32" ? "rg.exe" : "rg";

export async function findSearchProgram(
  env: Readonly<Record<string, string | undefined>>,
  packaged: string | undefined = packagedProgram(),
): Promise<SearchProgram | undefined> {
  if (packaged !== undefined && (await isProgram(packaged))) return { file: packaged, from: "package" };
  // A relative entry would let the folder in which Keel works choose the program.
  const places = (env["PATH"] ?? "").split(path.delimiter).filter((place) => path.isAbsolute(place));
  for (const place of places) {
    const file = path.join(place, name);
    if (await isProgram(file)) return { file, from: "path" };
  }
  return undefined;
}

/** The package for this platform is a dependency of the package that we name, and may only be visible from there. */
function packagedProgram(): string | undefined {
  try {
    const outer = createRequire(import.meta.url).resolve("@vscode/ripgrep");
    const platform = `@vscode/ripgrep-${process.platform}-${process.arch}`;
    return createRequire(outer).resolve(`${platform}/bin/${name}`);
  } catch {
    return undefined; // Not installed, or not for this platform.
  }
}

const isProgram = (file: string): Promise<boolean> =>
  access(file, constants.X_OK).then(
    () => true,
    () => false,
  );

export type SearchRun = {
  readonly program: string;
  readonly words: readonly string[];
  /** The opened directory in which it runs, or the opened file that it reads. */
  readonly at: FileHandle;
  readonly kind: "directory" | "file";
  /** Where that directory is, for systems on which a descriptor is not a path. */
  readonly directory: string;
  readonly timeoutMs: number;
  readonly maxBytes: number;
};

export type SearchRan =
  | { readonly ok: true; readonly end: SearchEnd; readonly problems: readonly string[] }
  | Refused;

/** Complaints that are kept, and told. */
const maxComplaintBytes = 8_192;
const maxProblems = 3;
/** Ends a child when the thread ends that started it: nothing is left behind, whatever ends Keel. */
const deathNotice = "/usr/bin/setpriv";

export async function runSearch(
  run: SearchRun,
  take: (chunk: Buffer) => void,
  signal: AbortSignal,
): Promise<SearchRan> {
  const [command, ...words] = await commandOf(run);
  return await new Promise((resolve) => {
    let end: SearchEnd = "complete";
    let bytes = 0;
    let complaints = "";
    // The environment may name a configuration file with a program in it; the search needs none of it.
    const child = spawn(command, words, {
      cwd: run.kind === "directory" ? reach(run) : "/",
      env: {},
      stdio: [run.kind === "file" ? run.at.fd : "ignore", "pipe", "pipe"],
    });
    const stop = (why: SearchEnd): void => {
      if (end === "complete") end = why;
      child.kill("SIGKILL");
    };
    const interrupt = (): void => stop("time");
    const timer = setTimeout(interrupt, run.timeoutMs);
    signal.addEventListener("abort", interrupt, { once: true });
    if (signal.aborted) interrupt();
    child.stdout?.on("data", (chunk: Buffer) => {
      if (end !== "complete") return;
      bytes += chunk.length;
      take(chunk);
      if (bytes > run.maxBytes) stop("size");
    });
    child.stderr?.on("data", (chunk: Buffer) => {
      if (complaints.length < maxComplaintBytes) complaints += chunk.toString("utf8");
    });
    const settle = (ran: SearchRan): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", interrupt);
      resolve(ran);
    };
    child.once("error", (error) => settle({ ok: false, why: `The search did not start: ${error.message}` }));
    child.once("close", (code) => settle(ranOf({ end, code, complaints })));
  });
}

type SearchExit = { readonly end: SearchEnd; readonly code: number | null; readonly complaints: string };

/** 0: found; 1: nothing found; 2: something was wrong, with or without results. */
function ranOf({ end, code, complaints }: SearchExit): SearchRan {
  const lines = complaints.split("\n").map(withoutPrefix).filter(Boolean);
  if (code === 2 && isRefusal(complaints)) return { ok: false, why: lines.join("\n") };
  if (end === "complete" && code !== 0 && code !== 1 && code !== 2)
    return { ok: false, why: `The search ended with ${code ?? "a signal"}. ${lines.join(" ")}`.trim() };
  const more = lines.length > maxProblems ? [`and ${lines.length - maxProblems} more`] : [];
  return { ok: true, end, problems: [...lines.slice(0, maxProblems), ...more] };
}

/** What it says of a place starts with that place, which is always below the one where it runs. */
const isRefusal = (complaints: string): boolean => !/^rg: \.\//m.test(complaints);

const withoutPrefix = (line: string): string => line.replace(/^rg: /, "").trimEnd();

async function commandOf({ program, words }: SearchRun): Promise<[string, ...string[]]> {
  if (process.platform === "linux" && (await isProgram(deathNotice)))
    return [deathNotice, "--pdeathsig", "KILL", "--", program, ...words];
  return [program, ...words];
}

/** Only Linux lets a descriptor be a path: then it does not matter what the directory's name means by now. */
const reach = ({ at, directory }: SearchRun): string =>
  process.platform === "linux" ? `/proc/self/fd/${at.fd}` : directory;
