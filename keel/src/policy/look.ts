/** Looks at what a call claims, so that policy can decide about it: commands are read, paths are described. */

import type { PathFacts, Workspace } from "../ports/workspace.ts";
import type { Claim } from "../protocol/tool.ts";
import type { ShellContext } from "../shell/meaning/analyse.ts";
import type { CommandJudge } from "./command-judge.ts";
import type { PlaceSeen } from "./place-facts.ts";

export type ClaimFindings = {
  readonly paths: ReadonlyMap<string, PathFacts>;
  readonly commands: ReadonlyMap<string, CommandJudge>;
  readonly world: ShellContext;
  /** What was seen of the places where commands would run. */
  readonly places: readonly PlaceSeen[];
};

export async function lookAt(claims: readonly Claim[], workspace: Workspace): Promise<ClaimFindings> {
  const context = surroundingsOf(workspace);
  const paths = new Map<string, PathFacts>();
  const commands = new Map<string, CommandJudge>();
  const places: PlaceSeen[] = [];
  for (const { action, target } of claims) {
    if (action === "read" || action === "write") paths.set(target, await workspace.files.describe(target));
    if (action !== "execute") continue;
    // The reader of shell texts is large: it comes with the first command.
    const { lookAtCommand } = await import("./look-at-command.ts");
    commands.set(target, await lookAtCommand(target, { workspace, world: context, paths, places }));
  }
  return { paths, commands, world: context, places };
}

function surroundingsOf({ cwd, roots, commands }: Workspace): ShellContext {
  return { cwd, roots, home: commands?.home ?? "/", isTrusted: commands?.isTrusted ?? false };
}
