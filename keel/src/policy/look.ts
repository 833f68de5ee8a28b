/** Looks at what a call claims, so that policy can decide about it: commands are read, paths are described. */

import type { PathFacts, Workspace } from "../ports/workspace.ts";
import type { Claim } from "../protocol/tool.ts";
import {
  type Analysis,
  analyseReading,
  read,
  type ShellContext,
  wantsSecondReader,
} from "../shell/meaning/analyse.ts";
import { claimsOf, nestedIn } from "./judge-command.ts";

export type ClaimFindings = {
  readonly paths: ReadonlyMap<string, PathFacts>;
  readonly commands: ReadonlyMap<string, Analysis>;
  readonly world: ShellContext;
};

/** Paths of one command that are looked at. One that names more is asked about. */
const maxPaths = 100;

export async function lookAt(claims: readonly Claim[], workspace: Workspace): Promise<ClaimFindings> {
  const context = surroundingsOf(workspace);
  const paths = new Map<string, PathFacts>();
  const commands = new Map<string, Analysis>();
  for (const { action, target } of claims) {
    if (action === "read" || action === "write") paths.set(target, await workspace.files.describe(target));
    if (action === "execute")
      commands.set(target, await lookAtCommand(target, { workspace, world: context, paths }));
  }
  return { paths, commands, world: context };
}

async function lookAtCommand(
  text: string,
  { workspace, world, paths }: { workspace: Workspace; world: ShellContext; paths: Map<string, PathFacts> },
): Promise<Analysis> {
  const reading = read(text);
  const tree = wantsSecondReader(reading) ? await workspace.commands?.grammar.parse(text) : undefined;
  const analysis = analyseReading(reading, world, tree);
  if (analysis.kind === "unread") return analysis;
  const named = new Set([
    ...claimsOf(analysis, world, paths).map(({ target }) => target),
    ...nestedIn(analysis, world),
  ]);
  for (const path of [...named].slice(0, maxPaths)) paths.set(path, await workspace.files.describe(path));
  if (named.size <= maxPaths) return analysis;
  const doubt = { kind: "meaning", text: `it names more than ${maxPaths} paths` } as const;
  return { ...analysis, doubts: [...analysis.doubts, doubt] };
}

function surroundingsOf({ cwd, roots, commands }: Workspace): ShellContext {
  return { cwd, roots, home: commands?.home ?? "/", isTrusted: commands?.isTrusted ?? false };
}
