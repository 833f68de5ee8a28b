/**
 * Policy: claims, rules and mode in, a verdict out. Pure. Deny is final; what no rule and no mode allows is asked.
 * A first, careful policy: only reading inside the workspace goes without a question.
 */

import type { AskOption } from "../../protocol/ask.ts";
import type { PermissionMode } from "../../protocol/settings.ts";
import type { Claim } from "../../protocol/tool.ts";
import type { PathFacts } from "../ports.ts";
import type { Traits } from "../tools/define.ts";
import { protectionOf } from "./protected.ts";
import { covers, type Rule, touches } from "./rules.ts";

export type Facts = {
  readonly tool: string;
  readonly traits: Traits;
  readonly claims: readonly Claim[];
  readonly mode: PermissionMode;
  readonly rules: Rules;
  /** What the path of a read or write claim is, by the claim's target. */
  readonly paths: ReadonlyMap<string, PathFacts>;
  /** The real path of the file that a plan is written to. */
  readonly planFile?: string | undefined;
};

export type Rules = {
  readonly allow: readonly Rule[];
  readonly ask: readonly Rule[];
  readonly deny: readonly Rule[];
  /** The one way around the questions about protected paths; no rule and no mode is one. */
  readonly protectedPaths?: "ask" | "allowed" | undefined;
};
export const noRules: Rules = { allow: [], ask: [], deny: [] };

export type Decision =
  | { readonly verdict: "allow"; readonly by: "rule" | "mode" | "read-only"; readonly because: string }
  | { readonly verdict: "deny"; readonly by: "rule" | "mode"; readonly because: string }
  | {
      readonly verdict: "ask";
      /** A rule wants the question: no hook may skip it. */
      readonly insists: boolean;
      readonly because: string;
      readonly options: readonly AskOption[];
    };

export function decide(facts: Facts): Decision {
  // A call that claims nothing is still a use of its tool.
  const claims: readonly Claim[] =
    facts.claims.length > 0 ? facts.claims : [{ action: "use", target: facts.tool }];
  const denied = facts.rules.deny.find((rule) => claims.some((claim) => touches(rule, facts.tool, claim)));
  if (denied) return { verdict: "deny", by: "rule", because: `the rule ${denied.text} denies it` };
  const mustAsk = facts.rules.ask.find((rule) => claims.some((claim) => touches(rule, facts.tool, claim)));
  if (!mustAsk && isOnlyPlan(facts))
    return { verdict: "allow", by: "mode", because: "it is the plan that this mode is for" };
  const guarded = protectedTarget(facts);
  if (facts.mode === "bypassPermissions" && !mustAsk && !guarded)
    return { verdict: "allow", by: "mode", because: "permissions are bypassed" };
  if (mustAsk) return refuseOrAsk(facts, { because: `the rule ${mustAsk.text} asks`, insists: true });
  if (facts.mode === "plan" && !facts.traits.readOnly)
    return { verdict: "deny", by: "mode", because: "plan mode changes nothing" };
  if (guarded) return refuseOrAsk(facts, { because: guarded, insists: true });
  const allowed = coveringRule(facts);
  if (allowed) return { verdict: "allow", by: "rule", because: `the rule ${allowed.text} allows it` };
  if (facts.traits.readOnly && facts.claims.every((claim) => isInside(facts, claim)))
    return { verdict: "allow", by: "read-only", because: "it only reads inside the workspace" };
  if (
    facts.mode === "acceptEdits" &&
    facts.claims.every((claim) => claim.action === "write" && isInside(facts, claim))
  ) {
    return { verdict: "allow", by: "mode", because: "edits inside the workspace are accepted" };
  }
  return refuseOrAsk(facts, { because: "nothing allows it yet", insists: false });
}

function refuseOrAsk(facts: Facts, { because, insists }: { because: string; insists: boolean }): Decision {
  if (facts.mode === "dontAsk")
    return { verdict: "deny", by: "mode", because: `${because}, and this mode does not ask` };
  return { verdict: "ask", because, insists, options: optionsFor(facts, insists ? "once" : "session") };
}

/** The plan may always be read; it may be written while a plan is made. */
function isOnlyPlan({ claims, planFile, mode }: Facts): boolean {
  return (
    planFile !== undefined &&
    claims.length > 0 &&
    claims.every(
      ({ action, target }) =>
        target === planFile && (action === "read" || (action === "write" && mode === "plan")),
    )
  );
}

/** Why a write must be asked although a rule or a mode would let it pass. */
function protectedTarget({ claims, paths, rules }: Facts): string | undefined {
  if (rules.protectedPaths === "allowed") return undefined;
  for (const { action, target } of claims) {
    if (action !== "write") continue;
    // Both by the name that was claimed, which may be a link's, and by where it leads.
    const because = protectionOf({ path: target }) ?? protectionOf(paths.get(target) ?? { path: target });
    if (because !== undefined) return `${target} is protected: ${because}`;
  }
  return undefined;
}

/** Every claim must be covered by some allow rule. */
function coveringRule(facts: Facts): Rule | undefined {
  const covering = facts.claims.map((claim) =>
    facts.rules.allow.find((rule) => covers(rule, facts.tool, claim)),
  );
  return covering.length > 0 && covering.every((rule) => rule !== undefined) ? covering[0] : undefined;
}

function isInside(facts: Facts, claim: Claim): boolean {
  if (claim.action !== "read" && claim.action !== "write") return false;
  return facts.paths.get(claim.target)?.root !== undefined;
}

function optionsFor(facts: Facts, reach: "once" | "session"): AskOption[] {
  const once: AskOption = { id: "once", label: "Yes, once", verdict: "allow" };
  const no: AskOption = { id: "no", label: "No", verdict: "deny" };
  // What is asked every time cannot be answered for good.
  if (reach === "once") return [once, no];
  const rule = ruleFor(facts);
  return [
    once,
    { id: "always", label: `Yes, and for the rest of the session: ${rule}`, verdict: "allow", rule },
    no,
  ];
}

function ruleFor({ tool, claims }: Facts): string {
  const command = claims.find(({ action }) => action === "execute")?.target;
  if (command !== undefined) return `${tool}(${command})`;
  const page = URL.parse(claims.find(({ action }) => action === "fetch")?.target ?? "");
  return page ? `${tool}(domain:${page.hostname})` : tool;
}
