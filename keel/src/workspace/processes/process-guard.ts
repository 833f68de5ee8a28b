/**
 * What ends the processes of commands when Keel ends, however it ends. One guard serves a whole Keel process, starts
 * with the first program and stands until Keel is gone: the strongest kind that this machine allows.
 */
import { randomBytes } from "node:crypto";
import { markVariable, type ProcessEnvironment } from "./environment.ts";
import { type Post, plainLaunch } from "./launch.ts";
import { letGo } from "./let-go.ts";
import { type Namespace, openNamespace } from "./process-guard-namespace.ts";
import { hasProcessTable, wholeTable } from "./process-table.ts";
import { spawned } from "./spawned.ts";

export type GuardFacts = {
  readonly kind: "namespace" | "sweep" | "group";
  /** Why it is not the strongest kind, if it is not. */
  readonly why?: string;
};

export interface ProcessGuard {
  /** What a program is to carry in its environment, as `markVariable`; no other has had it. */
  newMark(): string;
  /** Starts the guard if it does not stand. Never rejects: where nothing is possible, the process group is left. */
  post(): Promise<Post>;
  describe(): Promise<GuardFacts>;
  /** Ends everything that it guards. */
  close(): Promise<void>;
}

export type GuardMode = "on" | "off";
type GuardOptions = { readonly env: ProcessEnvironment; readonly wish?: GuardMode | "none" };

/** `off` makes no namespace, for those whose commands need setuid programs; what serves otherwise still does. */
export function openProcessGuard({ env, wish = "on" }: GuardOptions): ProcessGuard {
  let given: string | undefined;
  // At the first program: a session that starts none need not load what makes it.
  const name = (): string => {
    given ??= randomBytes(8).toString("hex");
    return given;
  };
  const path = env["PATH"];
  let marks = 0;
  let standing: Promise<Standing> | undefined;

  const stand = (): Promise<Standing> => {
    standing ??= begin({ name: name(), path, wish }).then((begun) => {
      // Somebody may kill it from the outside: the next program gets a new one.
      void begun.gone.then(() => {
        standing = undefined;
      });
      return begun;
    });
    return standing;
  };

  return {
    newMark: () => `${name()}.${++marks}`,
    post: async () => (await stand()).post,
    describe: async () => (await stand()).facts,
    async close() {
      await (await standing)?.close();
      standing = undefined;
    },
  };
}

/** No guard at all, for tests and for tools of a moment: a command's process group is all that is ended. */
export const groupGuard = (): ProcessGuard => openProcessGuard({ env: {}, wish: "none" });

/** In words, for a person with a question. */
export function sayProcessGuard({ kind, why }: GuardFacts): string {
  const reason = why === undefined ? "" : ` (no namespace: ${why})`;
  switch (kind) {
    case "namespace":
      return "PID namespace: whatever a command started ends with Keel";
    case "sweep":
      return `process group and sweep${reason}: what carries the mark ${markVariable} ends with Keel`;
    case "group":
      return `process group only${reason}: a Keel that is killed may leave behind what a command started`;
  }
}

/** Looks which guard would stand here; leaves nothing running. */
export async function describeProcessGuard(wanted: GuardOptions): Promise<GuardFacts> {
  const guard = openProcessGuard(wanted);
  try {
    return await guard.describe();
  } finally {
    await guard.close();
  }
}

type Standing = Namespace & { readonly facts: GuardFacts };

type GuardStart = { name: string; path: string | undefined; wish: GuardMode | "none" };

async function begin(wanted: GuardStart): Promise<Standing> {
  if (wanted.wish === "none") return standingBeside(undefined, "nobody asked for one");
  const namespace = wanted.wish === "on" ? await openNamespace(wanted) : { why: "it is turned off" };
  if (!("why" in namespace)) return { ...namespace, facts: { kind: "namespace" } };
  // The next program finds a better moment, and must not have the weaker guard for good.
  if ("passing" in namespace && namespace.passing)
    return { ...standingBeside(undefined, namespace.why), gone: Promise.resolve() };
  const sweeper = await startSweeper(wanted).catch(() => undefined);
  return standingBeside(sweeper, namespace.why);
}

const standingBeside = (sweeper: Sweeper | undefined, why: string): Standing => ({
  post: { launch: plainLaunch(), table: wholeTable, onEnded: undefined },
  facts: { kind: sweeper ? "sweep" : "group", why },
  gone: sweeper?.gone ?? new Promise(() => undefined),
  close: async () => sweeper?.close(),
});

/**
 * The guard where no namespace can be made: a small process beside Keel that waits for Keel's end, and then ends
 * everything that carries the mark of its commands. What has cleared its environment is not found.
 */
type Sweeper = { readonly gone: Promise<void>; close(): Promise<void> };

/** `$0` is the name in the marks. Looked for again and again, since who forks meanwhile is missed by one look. */
const words = `cat >/dev/null
for round in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  found=$(grep -l "${markVariable}=$0[.]" /proc/[0-9]*/environ 2>/dev/null)
  [ -n "$found" ] || exit 0
  for file in $found; do
    pid=\${file#/proc/}
    kill -KILL "\${pid%/*}" 2>/dev/null
  done
done`;

/** Undefined where there is no process table to be searched. */
async function startSweeper({ name, path }: GuardStart): Promise<Sweeper | undefined> {
  if (!hasProcessTable()) return undefined;
  const child = spawned("sh", ["-c", words, name], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
    // Without the mark: it must not find itself.
    env: { PATH: path },
    cwd: "/",
  });
  const { stdin } = child;
  if (!stdin) return undefined;
  stdin.on("error", () => undefined); // It has ended; `gone` tells.
  const started = await new Promise<boolean>((resolve) => {
    child.once("spawn", () => resolve(true)).once("error", () => resolve(false));
  });
  if (!started) return undefined;
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  child.unref();
  letGo(stdin);
  return {
    gone,
    async close() {
      child.ref();
      stdin.end();
      await gone;
    },
  };
}
