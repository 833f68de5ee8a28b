/**
 * What may be done in a folder, for those who do it without a session: an agent of other people that reads, writes and
 * runs through us. The same rules, mode, roots and protected paths hold as for a session there; what somebody has
 * allowed from now on holds as long as it is open.
 */
import { type Decision, decide } from "../../policy/decide.ts";
import { byEveryWay, lookAt, stillHold } from "../../policy/look.ts";
import { type PermissionRule, parseRule } from "../../policy/rules.ts";
import { verdictFacts } from "../../policy/verdict-facts.ts";
import { carefulTraits } from "../../ports/define-tool.ts";
import type { PathFacts, Workspace } from "../../ports/workspace.ts";
import type { Claim } from "../../protocol/tool.ts";
import type { VerdictFacts } from "../../protocol/verdict-facts.ts";
import type { HomeResources } from "../compose/home-resources.ts";
import { composeSession } from "../compose/session-composition.ts";
import type { OpenOptions } from "../options.ts";

export type FolderJudgement = {
  readonly decision: Decision;
  readonly claims: readonly Claim[];
  readonly facts: VerdictFacts;
  /** Whether the files that it rests on are what they were. */
  stillHolds(): Promise<boolean>;
};

/** What a tool of ours would claim: a file by its path, or a command. */
export type FolderWish =
  | { readonly tool: "Read" | "Write"; readonly facts: PathFacts; readonly path: string }
  | { readonly tool: "Bash"; readonly command: string };

export type FolderPolicy = {
  readonly workspace: Workspace;
  judge(wish: FolderWish): Promise<FolderJudgement>;
  /** A rule that somebody has allowed from now on. */
  allow(rule: string): void;
};

/** Throws what is wrong with the settings there, as a session would. */
export async function openFolderPolicy(options: OpenOptions, home: HomeResources): Promise<FolderPolicy> {
  const { parts, permissionMode: mode, trust: trusted } = await composeSession(options, home);
  const { workspace, rules: given } = parts;
  const trust = trusted.state === "untrusted" ? "untrusted" : "trusted";
  const learnt: PermissionRule[] = [];
  return {
    workspace,
    allow: (rule) => void learnt.push(...[parseRule(rule) ?? []].flat()),
    async judge(wish) {
      const rules = { ...given, allow: [...given.allow, ...learnt] };
      const claims = [claimOf(wish)];
      const linked = wish.tool === "Bash" ? undefined : new Map([[wish.path, wish.facts]]);
      const looked = await lookAt(claims, workspace, rules);
      const found = { ...looked, paths: byEveryWay(looked.paths, linked) };
      const traits = wish.tool === "Read" ? { ...carefulTraits, readOnly: true } : carefulTraits;
      const decision = decide({ tool: wish.tool, traits, claims, mode, ...found, rules });
      return {
        decision,
        claims,
        facts: verdictFacts({
          decision,
          mode,
          rules,
          claims,
          traits,
          trust,
          planFile: undefined,
          looked: found,
        }),
        stillHolds: () => stillHold(looked.grounds, workspace),
      };
    },
  };
}

function claimOf(wish: FolderWish): Claim {
  if (wish.tool === "Bash") return { action: "execute", target: wish.command };
  return { action: wish.tool === "Read" ? "read" : "write", target: wish.facts.path };
}
