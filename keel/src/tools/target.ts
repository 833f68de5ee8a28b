/** Where a file tool works: on the path that policy decided about, and on nothing that it has come to mean since. */
import type { Refused } from "../kernel/result.ts";
import { protectionOf } from "../policy/protected.ts";
import type { ToolContext } from "../ports/tool.ts";
import type { PathFacts } from "../ports/workspace.ts";
import type { Claim } from "../protocol/tool.ts";

export type Target = { readonly ok: true; readonly facts: PathFacts } | Refused;

export async function targetOf(
  context: ToolContext,
  { action, path }: { action: "read" | "write"; path: string },
): Promise<Target> {
  const decided = decidedPath(context, action);
  const facts = await context.workspace.files.describe(decided ?? path);
  if (facts.problem !== undefined) return { ok: false, why: facts.problem };
  if (decided !== undefined && facts.path !== decided) return { ok: false, why: movedTarget(path) };
  return { ok: true, facts };
}

/** Undefined while nothing is decided yet. */
export const decidedPath = ({ decided }: ToolContext, action: "read" | "write"): string | undefined =>
  decided?.find((claim) => claim.action === action)?.target;

/** What a call would touch: the real path, every link resolved. */
export async function claimedPath(context: ToolContext, path: string): Promise<string> {
  return (await context.workspace.files.describe(path)).path;
}

/** The same for a write. A link on the way whose own name is protected is written through, and so is claimed too. */
export async function writeClaims(context: ToolContext, path: string): Promise<Claim[]> {
  const facts = await context.workspace.files.describe(path);
  const links = (facts.passed ?? []).filter((link) => protectionOf({ path: link }) !== undefined);
  return [facts.path, ...links].map((target) => ({ action: "write", target }));
}

export const movedTarget = (path: string): string =>
  `${path} leads somewhere else since this call was allowed; nothing was done. Try again.`;
