/**
 * What would do in place of an allow rule that is wider than all that it ever let run. Only what holds for every one of
 * these calls is proposed: each is decided again with the proposal in the rule's place.
 */
import { isInside } from "../kernel/path.ts";
import type { PermissionMode } from "../protocol/settings.ts";
import type { Claim } from "../protocol/tool.ts";
import { familyOf } from "../protocol/tool-families.ts";
import type { Rules } from "./decide.ts";
import type { PastCall } from "./decide-again.ts";
import { type PermissionRule, parseRule } from "./rules.ts";

/** A longer list is not narrower to read. */
const maxProposed = 6;

export function narrowerRules(
  rule: PermissionRule,
  calls: readonly PastCall[],
  mode: PermissionMode | undefined,
): readonly string[] | undefined {
  const proposed = proposalFor(rule, calls);
  if (!proposed || proposed.length === 0 || proposed.length > maxProposed) return undefined;
  if (proposed.includes(rule.text)) return undefined;
  const parsed = proposed.flatMap((text) => parseRule(text, rule.source) ?? []);
  if (parsed.length !== proposed.length) return undefined;
  const isEnough = calls.every(({ call, rules }) =>
    rules.every((each) => call.under({ rules: replaced(each, rule, parsed), mode }).verdict === "allow"),
  );
  return isEnough ? proposed : undefined;
}

const replaced = (rules: Rules, rule: PermissionRule, by: readonly PermissionRule[]): Rules => ({
  ...rules,
  allow: rules.allow.flatMap((each) =>
    each.text === rule.text && each.source === rule.source ? by : [each],
  ),
});

function proposalFor(rule: PermissionRule, calls: readonly PastCall[]): string[] | undefined {
  const { pattern, tool } = rule;
  if (familyOf(tool) === "shell") return distinct(calls.map(({ call }) => call.kindsUnder(rule)));
  switch (pattern.kind) {
    case "path":
      return folderOf(rule, calls);
    case "domain":
      return hostsOf(rule, calls);
    case "any":
      // Of a server that was allowed as a whole, the tools that were used.
      return tool.startsWith("mcp__") ? distinct(calls.map(({ decision }) => [decision.tool])) : undefined;
    default:
      return undefined;
  }
}

function distinct(lists: readonly (readonly string[] | undefined)[]): string[] | undefined {
  return lists.includes(undefined) ? undefined : [...new Set(lists.flatMap((each) => each ?? []))].sort();
}

/** The folder that everything lay in, from where each session worked. */
function folderOf({ tool }: PermissionRule, calls: readonly PastCall[]): string[] | undefined {
  const paths = calls.flatMap(({ decision, call }) =>
    targets(call.claims, ["read", "write"]).map((target) => relativeTo(decision.facts?.cwd, target)),
  );
  if (paths.length === 0 || paths.includes(undefined)) return undefined;
  const folders = paths.map((path) => (path ?? "").split("/").slice(0, -1));
  const [first = [], ...others] = folders;
  const common = first.filter((_, at) =>
    others.every((each) => each.slice(0, at + 1).join("/") === first.slice(0, at + 1).join("/")),
  );
  return common.length === 0 || common.some((part) => /[*?[\]{}!\\]/.test(part))
    ? undefined
    : [`${tool}(./${common.join("/")}/**)`];
}

function relativeTo(folder: string | undefined, target: string): string | undefined {
  if (folder === undefined || target === folder || !isInside(target, [folder])) return undefined;
  return target.slice(folder.length).replace(/^\//, "");
}

function hostsOf({ tool }: PermissionRule, calls: readonly PastCall[]): string[] | undefined {
  const hosts = calls.flatMap(({ call }) =>
    targets(call.claims, ["fetch"]).map((target) => URL.parse(target)?.hostname),
  );
  return hosts.includes(undefined)
    ? undefined
    : [...new Set(hosts.map((host) => `${tool}(domain:${host})`))].sort();
}

const targets = (claims: readonly Claim[], actions: readonly Claim["action"][]): string[] =>
  claims.filter(({ action }) => actions.includes(action)).map(({ target }) => target);
