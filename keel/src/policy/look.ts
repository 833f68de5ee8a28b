/** Looks at what a call claims, so that policy can decide about it: commands are read, paths are described. */

import type { Violation } from "../ports/sandbox.ts";
import type { FoundName, PathFacts, Workspace } from "../ports/workspace.ts";
import type { Claim } from "../protocol/tool.ts";
import type { ShellContext } from "../shell/meaning/analyse.ts";
import type { CommandJudge } from "./command-judge.ts";
import type { Rules } from "./decide.ts";
import type { PlaceSeen } from "./place-facts.ts";

export type ClaimFindings = {
  readonly paths: ReadonlyMap<string, PathFacts>;
  readonly commands: ReadonlyMap<string, CommandJudge>;
  readonly world: ShellContext;
  /** What was seen of the places where commands would run. */
  readonly places: readonly PlaceSeen[];
  /** What the patterns of commands find. */
  readonly found: ReadonlyMap<string, readonly FoundName[]>;
  /** Commands that run inside the sandbox and may do so without a question. */
  readonly confined: ReadonlySet<string>;
  /** What a command that is to run outside was refused inside, in words. */
  readonly refused: ReadonlyMap<string, string>;
  /** What a decision about a command rests on. */
  readonly grounds: Grounds;
};

/** What the files were that a decision about a command rests on: it holds as long as they are. */
export type Grounds = {
  readonly paths: ReadonlyMap<string, PathFacts>;
  readonly found: ReadonlyMap<string, readonly FoundName[]>;
  /** Whether the places that commands run in are what they were. */
  readonly again: readonly (() => Promise<boolean>)[];
};

const nothing: Grounds = { paths: new Map(), found: new Map(), again: [] };

/** `rules` are those that the decision goes by, where they are known. */
export async function lookAt(
  claims: readonly Claim[],
  workspace: Workspace,
  rules?: Pick<Rules, "deny" | "ask">,
): Promise<ClaimFindings> {
  const world = surroundingsOf(workspace);
  const paths = new Map<string, PathFacts>();
  const found = new Map<string, readonly FoundName[]>();
  const again: (() => Promise<boolean>)[] = [];
  const commands = new Map<string, CommandJudge>();
  const places: PlaceSeen[] = [];
  const confined = new Set<string>();
  const refused = new Map<string, string>();
  for (const { action, target, outside } of claims) {
    if (action === "read" || action === "write") paths.set(target, await workspace.files.describe(target));
    if (action !== "execute") continue;
    // The reader of shell texts is large: it comes with the first command.
    const { lookAtCommand } = await import("./look-at-command.ts");
    const possible = rules && !hasPaths(rules) ? "left" : "looked at";
    const look = { workspace, world, paths, found, places, again, possible } as const;
    commands.set(target, await lookAtCommand(target, look));
    if (outside) refused.set(target, sayViolations(workspace.sandbox?.refused(target) ?? []));
    else if (workspace.sandbox?.autoAllow && !(await isOutside(target, workspace))) confined.add(target);
  }
  const findings = { paths, commands, world, places, found, confined, refused };
  if (commands.size === 0) return { ...findings, grounds: nothing };
  // Where they start: a link may stand there when they run.
  const start = [world.cwd, await workspace.files.describe(world.cwd)] as const;
  return { ...findings, grounds: { paths: new Map([...paths, start]), found, again } };
}

/** Whether a command that nobody wants outside runs there all the same, since the person keeps it there. */
export async function isOutside(command: string, workspace: Workspace): Promise<boolean> {
  if (!workspace.sandbox || workspace.sandbox.excluded.length === 0) return !workspace.sandbox;
  const { isExcluded } = await import("./excluded-command.ts");
  return isExcluded(command, workspace);
}

/** `write /etc/hosts, network example.com:443`. */
export const sayViolations = (violations: readonly Violation[]): string =>
  violations.map(({ kind, target }) => `${kind} ${target}`).join(", ");

/** Whether any of them asks what a command may read or write. */
export const hasPaths = ({ deny, ask }: Pick<Rules, "deny" | "ask">): boolean =>
  [...deny, ...ask].some(({ pattern }) => pattern.kind === "path");

/** Whether commands may start there: a folder of the workspace, by its own name and through no link. */
export const isFolderOfWorkspace = ({ path, kind, root, problem }: PathFacts, name: string): boolean =>
  path === name && kind === "directory" && root !== undefined && problem === undefined;

/** Whether the files are what they were when somebody looked: the same names found, and each leading where it led. */
export async function stillHold({ paths, found, again }: Grounds, { files }: Workspace): Promise<boolean> {
  for (const [path, before] of paths) if (!isSame(before, await files.describe(path))) return false;
  for (const [pattern, before] of found) {
    const now = await files.expand(pattern);
    if (now?.length !== before.length) return false;
    const known = new Map(before.map(({ path, isPlain }) => [path, isPlain]));
    if (now.some(({ path, isPlain }) => known.get(path) !== isPlain)) return false;
  }
  for (const isSamePlace of again) if (!(await isSamePlace())) return false;
  return true;
}

const isSame = (before: PathFacts, now: PathFacts): boolean =>
  before.path === now.path &&
  before.exists === now.exists &&
  before.kind === now.kind &&
  before.root === now.root &&
  before.own === now.own &&
  before.namedBelow === now.namedBelow &&
  before.problem === now.problem &&
  (before.passed ?? []).join("\0") === (now.passed ?? []).join("\0");

function surroundingsOf({ cwd, roots, own, commands }: Workspace): ShellContext {
  return { cwd, roots, own, home: commands?.home ?? "/", isTrusted: commands?.isTrusted ?? false };
}

/** A tool claims where its path leads: a rule that denies a link on the way is about it all the same. */
export function byEveryWay(
  paths: ReadonlyMap<string, PathFacts>,
  linked: ReadonlyMap<string, PathFacts> = new Map(),
): ReadonlyMap<string, PathFacts> {
  const all = new Map([...linked, ...paths]);
  for (const { path, passed = [] } of linked.values()) {
    const end = all.get(path);
    if (end) all.set(path, { ...end, passed: [...new Set([...(end.passed ?? []), ...(passed ?? [])])] });
  }
  return all;
}
