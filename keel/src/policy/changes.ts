/** Changes of what a session may do while it runs: its own rules and folders beside those that it started with. Pure. */
import type { Ask } from "../protocol/ask.ts";
import type { PermissionChange } from "../protocol/settings.ts";
import type { RuleSource } from "../protocol/verdict-facts.ts";
import type { Rules } from "./decide.ts";
import { covers, type PermissionRule, parseRule } from "./rules.ts";

/** What was said in the session itself. */
export type Learnt = {
  readonly allow: readonly string[];
  readonly ask: readonly string[];
  readonly deny: readonly string[];
  readonly folders: readonly string[];
};

export const nothingLearnt: Learnt = { allow: [], ask: [], deny: [], folders: [] };

export type RuleChange = Extract<PermissionChange, { type: "rules" }>;

export function learn(learnt: Learnt, changes: readonly PermissionChange[]): Learnt {
  const known = { ...learnt };
  for (const change of changes) {
    if (change.type === "folders") known.folders = changed(known.folders, change.change, change.folders);
    else known[change.list] = changed(known[change.list], change.change, change.rules);
  }
  return known;
}

/** Rules of one source, changed in place: what other sources say stays, so a deny of theirs is not lifted. */
export function changeRules(
  rules: Rules,
  { list, change, rules: texts }: RuleChange,
  source: RuleSource,
): Rules {
  const others = rules[list].filter((rule) => rule.source !== source);
  const own = rules[list].flatMap((rule) => (rule.source === source ? [rule.text] : []));
  const now = changed(own, change, texts);
  return { ...rules, [list]: [...others, ...now.flatMap((text) => parseRule(text, source) ?? [])] };
}

/** The rules of a session at any moment: those that it was given, which may change, and those that it learnt. */
export function rulesInForce(given: Rules, learnt: () => Learnt): Rules {
  const own = (list: "allow" | "ask" | "deny"): readonly PermissionRule[] => {
    const added = learnt()[list];
    return added.length === 0
      ? given[list]
      : [...given[list], ...added.flatMap((text) => parseRule(text) ?? [])];
  };
  return {
    get allow() {
      return own("allow");
    },
    get ask() {
      return own("ask");
    },
    get deny() {
      return own("deny");
    },
    protectedPaths: given.protectedPaths,
  };
}

/** A list after a change of it; nothing stands in it twice. */
export function changed(
  known: readonly string[],
  change: "add" | "replace" | "remove",
  given: readonly string[],
): readonly string[] {
  switch (change) {
    case "add":
      return [...known, ...new Set(given).difference(new Set(known))];
    case "replace":
      return [...new Set(given)];
    case "remove":
      return known.filter((text) => !given.includes(text));
  }
}

/**
 * Whether a newly learnt rule answers an open permission ask. About a command or a path only the rule does that its own
 * question has offered: that one was found to cover all of it.
 */
export function answersAsk(rule: string, ask: Ask): boolean {
  const parsed = parseRule(rule);
  if (
    !parsed ||
    ask.kind !== "permission" ||
    ask.tool === undefined ||
    !ask.claims ||
    ask.claims.length === 0 ||
    // A question that offers no rule is asked every time: no rule answers it.
    !ask.options.some((option) => option.rule !== undefined)
  )
    return false;
  const { tool } = ask;
  const isOffered = ask.options.some((option) => option.rule === rule);
  return isOffered || ask.claims.every((claim) => covers(parsed, tool, claim));
}
