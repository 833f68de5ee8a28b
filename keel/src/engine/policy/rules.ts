/** Rules as people write them: `Tool`, `Tool(exactly this)`, `Tool(these first words:*)`, `WebFetch(domain:a.org)`. */
import type { Claim } from "../../protocol/tool.ts";

export type Rule = { readonly text: string; readonly tool: string; readonly pattern: Pattern };
type Pattern =
  | { kind: "any" }
  | { kind: "exact"; value: string }
  | { kind: "prefix"; value: string }
  | { kind: "domain"; value: string };

/** Undefined when the text is not a rule: it is then reported, and matches nothing. */
export function parseRule(text: string): Rule | undefined {
  const match = /^([A-Za-z_][\w-]*)(?:\((.*)\))?$/s.exec(text.trim());
  if (!match) return undefined;
  const [, tool = "", inner] = match;
  return { text: text.trim(), tool, pattern: parsePattern(inner) };
}

/** Whether an allow rule covers a claim: in doubt it does not. */
export function covers(rule: Rule, tool: string, claim: Claim): boolean {
  if (rule.tool !== tool) return false;
  switch (rule.pattern.kind) {
    case "any":
      return true;
    case "exact":
      return claim.target === rule.pattern.value;
    case "prefix":
      return startsWithWords(claim, rule.pattern.value);
    case "domain":
      return hostOf(claim) === rule.pattern.value;
  }
}

/** Whether a deny or ask rule touches a claim: in doubt it does. */
export function touches(rule: Rule, tool: string, claim: Claim): boolean {
  if (rule.tool !== tool) return false;
  if (rule.pattern.kind === "domain") {
    const host = hostOf(claim);
    return host === rule.pattern.value || host?.endsWith(`.${rule.pattern.value}`) === true;
  }
  return rule.pattern.kind === "any" || claim.target.includes(rule.pattern.value);
}

function parsePattern(inner: string | undefined): Pattern {
  if (inner === undefined || inner === "" || inner === "*") return { kind: "any" };
  if (inner.startsWith("domain:"))
    return { kind: "domain", value: inner.slice("domain:".length).toLowerCase() };
  if (inner.endsWith(":*")) return { kind: "prefix", value: inner.slice(0, -2).trim() };
  return { kind: "exact", value: inner };
}

/** Whom a fetch would reach, without the dot that a full name may end with. */
const hostOf = ({ action, target }: Claim): string | undefined =>
  action === "fetch" ? URL.parse(target)?.hostname.replace(/\.$/, "") : undefined;

/** Until commands are parsed, a prefix covers only plain words: whatever could start a second command is not covered. */
function startsWithWords(claim: Claim, prefix: string): boolean {
  const { target } = claim;
  if (claim.action === "execute" && !/^[\w\s./:=@%+,-]*$/.test(target)) return false;
  if (/[\r\n]/.test(target)) return false;
  return target === prefix || target.startsWith(`${prefix} `);
}
