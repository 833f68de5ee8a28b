/**
 * Policy: claims, facts, rules and mode in, a verdict out, with the reason. Pure. Deny is final; a rule that asks and a
 * protected path are asked about in every mode; what no rule, proof or mode allows is asked.
 */

import { never } from "../kernel/result.ts";
import type { ToolTraits } from "../ports/tool.ts";
import type { PathFacts } from "../ports/workspace.ts";
import type { AskOption } from "../protocol/ask.ts";
import type { PermissionMode } from "../protocol/settings.ts";
import type { Claim } from "../protocol/tool.ts";
import { type CommandJudge, type Permit, permitBy, type Touch, unreadCommand } from "./command-judge.ts";
import { groundedPaths, type PathRuleRoots } from "./path-rules.ts";
import { ownClaim, protectedClaim } from "./protected.ts";
import { covers, type PermissionRule, sayRule, touches } from "./rules.ts";
import { optionsFor, type SuggestionContext } from "./suggest.ts";

export type PolicyFacts = SuggestionContext & {
  readonly traits: ToolTraits;
  readonly mode: PermissionMode;
  readonly rules: Rules;
  readonly paths: ReadonlyMap<string, PathFacts>;
  /** Whether commands that only read go without a question. */
  readonly readOnlyCommands?: "allowed" | "asked" | undefined;
  /** Commands that run inside the sandbox and may do so without a question. */
  readonly confined?: ReadonlySet<string> | undefined;
  /** What a command that is to run outside was refused inside, in words. */
  readonly refused?: ReadonlyMap<string, string> | undefined;
  /** The real path of the file that a plan is written to. */
  readonly planFile?: string | undefined;
};

export type Rules = {
  readonly allow: readonly PermissionRule[];
  readonly ask: readonly PermissionRule[];
  readonly deny: readonly PermissionRule[];
  /** The one way around the questions about protected paths; no rule and no mode is one. */
  readonly protectedPaths?: "ask" | "allowed" | undefined;
};
export const noRules: Rules = { allow: [], ask: [], deny: [] };

export type Decision = {
  readonly because: string;
  /** The rule that it is by, where it is by one. */
  readonly rule?: DecisiveRule | undefined;
} & (
  | {
      readonly verdict: "allow";
      readonly by: "rule" | "mode" | "read-only";
      /** Every allow rule that it took, where it took any. */
      readonly rules?: readonly PermissionRule[] | undefined;
    }
  | { readonly verdict: "deny"; readonly by: "rule" | "mode" }
  | {
      readonly verdict: "ask";
      /** A rule wants the question: no hook may skip it. */
      readonly insists: boolean;
      /** It is about a protected path or Keel's own files: only a person says yes to it, never a hook. */
      readonly guarded?: true;
      /** In the mode `auto`: why nobody but a person can say yes to it. */
      readonly grave?: string | undefined;
      readonly options: readonly AskOption[];
    }
);

export type DecisiveRule = PermissionRule & { readonly list: "allow" | "ask" | "deny" };

export function decide(facts: PolicyFacts): Decision {
  const { mode } = facts;
  const row = modes[mode];
  const denied = firstTouched("deny", facts);
  if (denied?.touch === "yes")
    return {
      verdict: "deny",
      by: "rule",
      because: `${sayRule(denied.rule)} denies it${asSpelled(denied.rule, facts)}`,
      rule: denied.rule,
    };
  // What a mode denies no question can bring back.
  if (row.other === "deny" && !isOnlyPlan(facts) && !isReading(facts))
    return { verdict: "deny", by: "mode", because: row.says };
  const asking = firstTouched("ask", facts);
  if (!denied && !asking && isOnlyPlan(facts))
    return { verdict: "allow", by: "mode", because: "it is the plan that this mode is for" };
  if (asking?.touch === "yes")
    return refuseOrAsk(facts, {
      because: `${sayRule(asking.rule)} asks${asSpelled(asking.rule, facts)}`,
      insists: true,
      rule: asking.rule,
    });
  // What a rule may deny is not run unasked, whatever else allows it.
  const doubtful = denied ?? asking;
  if (doubtful)
    return refuseOrAsk(facts, {
      because: `only the run knows whether ${sayRule(doubtful.rule)} is about it`,
      insists: true,
      rule: doubtful.rule,
    });
  const guarded = whyGuarded(facts);
  if (row.other === "allow" && !guarded) return { verdict: "allow", by: "mode", because: row.says };
  if (guarded) return refuseOrAsk(facts, { because: guarded, insists: true });
  return permitted(facts);
}

const judgeOf = ({ commands, world }: PolicyFacts, { target }: Claim): CommandJudge =>
  (world && commands?.get(target)) ?? unreadCommand("nobody has looked at it");

/** Where a rule is about words that are not its own, a person is told which. */
function asSpelled(rule: PermissionRule, facts: PolicyFacts): string {
  const commands = facts.claims.filter(({ action }) => action === "execute");
  const [found] = commands.flatMap((claim) => judgeOf(facts, claim).spelling(rule) ?? []);
  return found === undefined ? "" : `: it is spelled "${found}"`;
}

/** Every claim must be allowed, each by whatever allows it. */
function permitted(facts: PolicyFacts): Decision {
  const row = modes[facts.mode];
  // A tool that claims nothing and changes nothing has nothing to be asked about.
  if (facts.claims.length === 0 && facts.traits.readOnly)
    return { verdict: "allow", by: "read-only", because: "it changes nothing" };
  const claims = allClaims(facts);
  const permits = claims.map((claim) => permitClaim(facts, claim));
  const first = permits.find(({ kind }) => kind === "open") ?? permits[0];
  if (first?.kind !== "allowed")
    return refuseOrAsk(facts, { because: first?.because ?? row.says, insists: false });
  const rule = first.by === "rule" ? first.rules?.[0] : undefined;
  const rules = permits.flatMap((permit) => (permit.kind === "allowed" ? (permit.rules ?? []) : []));
  return {
    verdict: "allow",
    by: first.by,
    because: first.because,
    ...(rule ? { rule: { ...rule, list: "allow" } } : {}),
    ...(rules.length > 0 ? { rules } : {}),
  };
}

function permitClaim(facts: PolicyFacts, claim: Claim): Permit {
  const { rules, tool, traits, mode, paths, world } = facts;
  const row = modes[mode];
  if (claim.action === "execute") {
    const judge = judgeOf(facts, claim);
    const readOnly = facts.readOnlyCommands ?? "allowed";
    const permit = judge.permit({ tool, allow: rules.allow, readOnly, edits: row.editing });
    const isConfined = permit.kind === "open" && facts.confined?.has(claim.target);
    // What destroys, leads outside or is not understood is asked about, wherever it runs.
    return isConfined && judge.grave() === undefined
      ? { kind: "allowed", by: "mode", because: "it runs inside the sandbox" }
      : permit;
  }
  const rule = rules.allow.find((each) => covers(each, tool, real(facts, claim), world));
  if (rule) return permitBy(rule);
  switch (claim.action) {
    case "read":
    case "write":
      if (paths.get(claim.target)?.root === undefined)
        return { kind: "open", because: `${claim.target} lies outside the workspace` };
      if (claim.action === "read" && traits.readOnly)
        return { kind: "allowed", by: "read-only", because: "it only reads inside the workspace" };
      if (claim.action === "write" && row.editing === "allow")
        return { kind: "allowed", by: "mode", because: row.says };
      return { kind: "open", because: "nothing allows it yet" };
    case "delegate":
      return { kind: "allowed", by: "mode", because: "what an agent does is decided when it does it" };
    case "fetch":
    case "use":
      return { kind: "open", because: "nothing allows it yet" };
    default:
      return never(claim.action);
  }
}

/** A call that claims nothing is still a use of its tool. */
const allClaims = ({ claims, tool }: PolicyFacts): readonly Claim[] =>
  claims.length > 0 ? claims : [{ action: "use", target: tool }];

/** The first rule that is about it for sure, else the first that may be. */
function firstTouched(
  list: "deny" | "ask",
  facts: PolicyFacts,
): { rule: DecisiveRule; touch: Touch } | undefined {
  const touched = facts.rules[list].flatMap((rule) => {
    const found = allClaims(facts).map((claim) => touchOfClaim(rule, facts, claim));
    const touch: Touch = found.includes("yes") ? "yes" : found.includes("maybe") ? "maybe" : "no";
    return touch === "no" ? [] : [{ rule: { ...rule, list }, touch }];
  });
  return touched.find(({ touch }) => touch === "yes") ?? touched[0];
}

function touchOfClaim(rule: PermissionRule, facts: PolicyFacts, claim: Claim): Touch {
  if (claim.action === "execute") return judgeOf(facts, claim).touch(rule, facts.tool);
  const { tool, world, paths } = facts;
  // By the name that was claimed, by where it leads, and by every link on the way.
  const { path = claim.target, passed = [] } = paths.get(claim.target) ?? {};
  const targets = [claim.target, path, ...(passed ?? [])];
  return targets.some((target) => touches(rule, tool, { ...claim, target }, world)) ? "yes" : "no";
}

/** An allow rule is about where a path leads. */
const real = ({ paths }: PolicyFacts, claim: Claim): Claim =>
  claim.action === "read" || claim.action === "write"
    ? { ...claim, target: paths.get(claim.target)?.path ?? claim.target }
    : claim;

/** Whether it changes nothing, whatever it reads. */
function isReading(facts: PolicyFacts): boolean {
  // An agent is bound by the same mode.
  if (facts.claims.length > 0 && facts.claims.every(({ action }) => action === "delegate")) return true;
  return facts.claims.some(({ action }) => action === "execute")
    ? facts.claims.every((claim) => claim.action !== "execute" || judgeOf(facts, claim).onlyReads())
    : facts.traits.readOnly;
}

function refuseOrAsk(
  facts: PolicyFacts,
  { because, insists, rule }: { because: string; insists: boolean; rule?: DecisiveRule },
): Decision {
  const { open, says } = modes[facts.mode];
  if (open === "deny") return { verdict: "deny", by: "mode", because: `${because}, and ${says}`, rule };
  const guarded = whyGuarded(facts) === undefined ? {} : ({ guarded: true } as const);
  const options = optionsFor(facts, insists ? "once" : "session");
  const grave = facts.mode === "auto" ? { grave: insists ? because : whyGrave(facts) } : {};
  return { verdict: "ask", because, insists, ...guarded, ...grave, rule, options };
}

/** Why what is open is a person's to allow, and no reviewer's. */
function whyGrave(facts: PolicyFacts): string | undefined {
  if (facts.traits.destructive) return "it says that it may destroy";
  const reasons = facts.claims.values().map((claim) => {
    if (claim.action === "execute") return judgeOf(facts, claim).grave();
    const isPath = claim.action === "read" || claim.action === "write";
    return isPath && facts.paths.get(claim.target)?.root === undefined
      ? `${claim.target} lies outside the workspace`
      : undefined;
  });
  return reasons.find((because) => because !== undefined) ?? whyGuarded(facts);
}

/** Why no mode, rule or hook lets it pass: only a person does. */
const whyGuarded = (facts: PolicyFacts): string | undefined =>
  leavesSandbox(facts) ??
  (facts.rules.protectedPaths === "allowed" ? undefined : protectedTarget(facts)) ??
  ownTarget(facts);

/** Why it is asked about that it runs outside: nothing but a person's word for this very command takes it there. */
function leavesSandbox({ claims, refused }: PolicyFacts): string | undefined {
  const leaving = claims.find(({ outside }) => outside);
  if (!leaving) return undefined;
  const before = refused?.get(leaving.target) ?? "";
  return `UNSANDBOXED: it would run outside of the sandbox${before === "" ? "" : `, where it was refused: ${before}`}`;
}

/** The plan may always be read; it may be written while a plan is made. */
function isOnlyPlan({ claims, planFile, mode }: PolicyFacts): boolean {
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
function protectedTarget(facts: PolicyFacts): string | undefined {
  const reasons = facts.claims
    .values()
    .map((claim) =>
      claim.action === "execute"
        ? judgeOf(facts, claim).protectedWrite()
        : protectedClaim(claim, facts.paths),
    );
  return reasons.find((because) => because !== undefined);
}

/** Why a read must be asked in the same way: no setting takes this question away. */
function ownTarget(facts: PolicyFacts): string | undefined {
  const reasons = facts.claims
    .values()
    .map((claim) =>
      claim.action === "execute" ? judgeOf(facts, claim).ownRead() : ownClaim(claim, facts.paths),
    );
  return reasons.find((because) => because !== undefined);
}

/** Whether a deny rule is about reading this file: a search leaves it out, wherever the search itself was allowed. */
export const deniesReading = ({ deny }: Rules, path: string, ground: PathRuleRoots): boolean =>
  deny.some(
    ({ pattern, tool }) =>
      pattern.kind === "path" && readsFiles(tool) && groundedPaths(pattern, ground).matches(path),
  );

const readsFiles = (tool: string): boolean => /^(?:Read|Grep|Glob|LS)$/.test(tool);

/** Permission modes as a table: what is done about a call that no rule decides. */
type ModeRow = {
  /** Writing files inside the workspace. */
  readonly editing: "allow" | "open" | "deny";
  /** Everything else. */
  readonly other: "allow" | "open" | "deny";
  /** What is still open is asked, or refused where nobody is to be asked. */
  readonly open: "ask" | "deny";
  /** How the mode is told in a reason. */
  readonly says: string;
};

/** No row lifts a deny, a rule that asks, or the question about a protected path; all let reading inside pass. */
const modes: Readonly<Record<PermissionMode, ModeRow>> = {
  default: { editing: "open", other: "open", open: "ask", says: "nothing allows it yet" },
  acceptEdits: {
    editing: "allow",
    other: "open",
    open: "ask",
    says: "edits inside the workspace are accepted",
  },
  plan: { editing: "deny", other: "deny", open: "ask", says: "plan mode changes nothing" },
  dontAsk: { editing: "open", other: "open", open: "deny", says: "this mode does not ask" },
  bypassPermissions: { editing: "allow", other: "allow", open: "ask", says: "permissions are bypassed" },
  // What it leaves open a reviewer looks at before a person is asked (`engine/calls/permit.ts`).
  auto: { editing: "open", other: "open", open: "ask", says: "nothing allows it yet" },
};
