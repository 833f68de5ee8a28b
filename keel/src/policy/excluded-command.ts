/** Commands that the person keeps outside of the sandbox: each command of a text has to be one of them, or it stays inside. */
import type { Workspace } from "../ports/workspace.ts";
import { analyseReading, read, wantsSecondReader } from "../shell/meaning/analyse.ts";
import { judgeCommand } from "./judge-command.ts";
import { parseRule } from "./rules.ts";

/** By its text alone: the same whenever it is asked, before the decision and before the run. */
export async function isExcluded(
  text: string,
  { sandbox, cwd, roots, own, commands }: Workspace,
): Promise<boolean> {
  const allow = (sandbox?.excluded ?? []).flatMap((pattern) => parseRule(`Bash(${pattern})`) ?? []);
  if (allow.length === 0) return false;
  const world = { cwd, roots, own, home: commands?.home ?? "/", isTrusted: false };
  const reading = read(text);
  const tree = wantsSecondReader(reading) ? await commands?.grammar.parse(text) : undefined;
  const analysis = analyseReading(reading, world, tree);
  const judge = judgeCommand({ text, analysis, world, paths: new Map(), found: new Map() });
  const permit = judge.permit({ tool: "Bash", allow, readOnly: "asked", edits: "allow" });
  return permit.kind === "allowed" && permit.by === "rule";
}
