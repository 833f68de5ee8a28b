/**
 * Rules as people write them: `Tool`, `Tool(exactly this)`, `Bash(first words:*)`, `Bash(git * main)`, `Read(./secrets/)`,
 * `WebFetch(domain:a.org)`, `mcp__server`. A rule that cannot be read matches nothing and touches no other rule.
 */
import { parseGlob } from "../kernel/glob.ts";
import { Kept } from "../kernel/once.ts";
import type { Claim } from "../protocol/tool.ts";
import { familyOf } from "../protocol/tool-families.ts";
import type { RuleSource } from "../protocol/verdict-facts.ts";
import type { DeniedCommand } from "./denied-command.ts";
import { type GroundedPaths, groundedPaths, type PathRuleRoots } from "./path-rules.ts";
import { parseShellPattern, type ShellPattern, type UnreadPattern } from "./shell-pattern.ts";

export type PermissionRule = {
  readonly text: string;
  readonly tool: string;
  readonly pattern: Pattern;
  readonly source: RuleSource;
};

export type Pattern =
  | { readonly kind: "any" }
  | {
      readonly kind: "shell";
      readonly shell: ShellPattern | UnreadPattern;
      /** What it means as a rule that denies or asks: the same few rules are asked about every call. */
      readonly denied: Kept<DeniedCommand>;
    }
  /** A path or a glob as in a `.gitignore`. */
  | { readonly kind: "path"; readonly value: string; readonly grounded: Kept<GroundedPaths> }
  | { readonly kind: "domain"; readonly value: string }
  | { readonly kind: "exact"; readonly value: string }
  | { readonly kind: "prefix"; readonly value: string };

/** Undefined when the text is not a rule: it is then reported. */
export function parseRule(text: string, source: RuleSource = "session"): PermissionRule | undefined {
  const trimmed = text.trim();
  const match = /^([A-Za-z_][\w-]*)(?:\(([\s\S]*)\))?(\*)?$/.exec(trimmed);
  if (!match) return undefined;
  const [, name = "", inner, star] = match;
  // Only names of servers and their tools end in a star. `mcp__server__*` is the long way to write `mcp__server`.
  if (star !== undefined && (inner !== undefined || !name.startsWith("mcp__"))) return undefined;
  const tool = star === undefined ? name : /^mcp__.+__$/.test(name) ? name.slice(0, -2) : `${name}*`;
  const pattern = inner === undefined ? ({ kind: "any" } as const) : parsePattern(tool, inner);
  return pattern && { text: trimmed, tool, pattern, source };
}

/** As it is told: the rule, and where it stands. */
export const sayRule = ({ text, source }: PermissionRule): string => `the rule ${text} (${source})`;

function parsePattern(tool: string, inner: string): Pattern | undefined {
  const spec = inner.trim();
  if (spec === "") return undefined;
  if (spec === "*") return { kind: "any" };
  const family = familyOf(tool);
  if (family === "shell") {
    const shell = parseShellPattern(spec);
    return shell && { kind: "shell", shell, denied: new Kept() };
  }
  if (spec.startsWith("domain:")) return domainPattern(spec.slice("domain:".length));
  if (family === "reads" || family === "edits")
    return parseGlob(spec.replace(/^\/{2,}/, "/")).ok && !spec.includes("\0")
      ? { kind: "path", value: spec, grounded: new Kept() }
      : undefined;
  if (spec.endsWith(":*")) return { kind: "prefix", value: spec.slice(0, -2).trim() };
  return { kind: "exact", value: inner };
}

function domainPattern(given: string): Pattern | undefined {
  const value = given.trim().toLowerCase().replace(/\.$/, "");
  return /^(?:\*\.)?[^\s/*:@?#\\]+$/.test(value) || /^\[[0-9a-f:.]+\]$/.test(value)
    ? { kind: "domain", value }
    : undefined;
}

/** Whether an allow rule covers a claim that is not a command: in doubt it does not. */
export function covers(rule: PermissionRule, tool: string, claim: Claim, ground?: PathRuleRoots): boolean {
  const { pattern } = rule;
  if (pattern.kind === "path")
    return (
      isAbout(rule, tool, claim, "allow") &&
      ground !== undefined &&
      groundedPaths(pattern, ground).matches(claim.target)
    );
  if (!names(rule, tool)) return false;
  switch (pattern.kind) {
    case "any":
      return true;
    case "domain":
      return isFetchedFrom(claim, pattern.value, "exactly");
    case "exact":
      return claim.target === pattern.value;
    case "prefix":
      return claim.target === pattern.value || claim.target.startsWith(`${pattern.value} `);
    // Commands are judged by what they are made of, not by their text.
    case "shell":
      return false;
  }
}

/** Whether a deny or ask rule touches a claim that is not a command: in doubt it does. */
export const touches = (rule: PermissionRule, tool: string, claim: Claim, ground?: PathRuleRoots): boolean =>
  toucher(rule, tool, ground)(claim);

/** The same for many claims. */
export function toucher(
  rule: PermissionRule,
  tool: string,
  ground?: PathRuleRoots,
): (claim: Claim) => boolean {
  const { pattern } = rule;
  if (pattern.kind === "path")
    return (claim) =>
      isAbout(rule, tool, claim, "deny") &&
      (ground === undefined || groundedPaths(pattern, ground).matches(claim.target));
  if (!names(rule, tool)) return () => false;
  switch (pattern.kind) {
    case "any":
      return () => true;
    case "domain":
      return (claim) => isFetchedFrom(claim, pattern.value, "and below");
    case "exact":
    case "prefix":
      return ({ target }) => target.includes(pattern.value);
    case "shell":
      return () => false;
  }
}

/** `mcp__server` is every tool of that server, `mcp__server__get_*` those whose names start so. */
export const names = (rule: Pick<PermissionRule, "tool">, tool: string): boolean =>
  rule.tool === tool ||
  (rule.tool.endsWith("*") && tool.startsWith(rule.tool.slice(0, -1))) ||
  (/^mcp__(?:(?!__).)+$/.test(rule.tool) && tool.startsWith(`${rule.tool}__`));

/**
 * Rules about paths go by what is done, not only by which tool does it: `Edit(…)` is about every editor, `Read(…)` about
 * every reader, and what is denied to one of them is denied to all and to commands.
 */
function isAbout(rule: PermissionRule, tool: string, { action }: Claim, effect: "allow" | "deny"): boolean {
  if (action !== "write" && action !== "read") return false;
  const [family, widest] = action === "write" ? ["edits", "Edit"] : ["reads", "Read"];
  if (familyOf(rule.tool) !== family) return false;
  return effect === "deny" || rule.tool === tool || (rule.tool === widest && familyOf(tool) === family);
}

function isFetchedFrom({ action, target }: Claim, domain: string, extent: "exactly" | "and below"): boolean {
  if (action !== "fetch") return false;
  // Without the dot that a full name may end with.
  const host = URL.parse(target)?.hostname.replace(/\.$/, "");
  return host === undefined ? extent === "and below" : isOfDomain(host, domain, extent);
}

/** The one meaning of a domain in rules and lists: `*.a.org` is what is below it; a deny is about both. */
export function isOfDomain(host: string, domain: string, reach: "exactly" | "and below"): boolean {
  if (domain.startsWith("*."))
    return host.endsWith(domain.slice(1)) || (reach === "and below" && host === domain.slice(2));
  return host === domain || (reach === "and below" && host.endsWith(`.${domain}`));
}
