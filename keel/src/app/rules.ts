/** Permission rules from all sources. What cannot be read as a rule is told, and matches nothing. */
import type { Judged } from "../config/entries.ts";
import type { Settings } from "../config/settings-schema.ts";
import { noRules, type Rules } from "../engine/policy/decide.ts";
import { parseRule, type Rule } from "../engine/policy/rules.ts";
import type { Tool } from "../engine/tools/define.ts";

export type ReadRules = {
  readonly rules: Rules;
  /** Sentences for a person. */
  readonly problems: readonly string[];
};

export type RuleWish = {
  readonly entries: readonly Judged[];
  readonly settings: Settings;
};

export function readRules({ entries, settings }: RuleWish): ReadRules {
  const problems: string[] = [];
  const read = (list: "allow" | "ask" | "deny"): Rule[] =>
    ruleTexts(entries, list).flatMap(({ text, file, source }) => {
      const rule = parseRule(text, source);
      if (!rule)
        problems.push(
          `${JSON.stringify(text)}${file === undefined ? "" : ` in ${file}`} is not a permission rule and was left out. A rule is Tool, Tool(exactly this), Bash(first words:*) or Read(./a/path).`,
        );
      return rule ? [rule] : [];
    });
  const rules: Rules = {
    ...noRules,
    allow: read("allow"),
    ask: read("ask"),
    deny: read("deny"),
    protectedPaths: settings.permissions?.protectedPaths,
  };
  return { rules, problems };
}

/** The rules of one list that count, the weakest source first. */
function ruleTexts(
  entries: readonly Judged[],
  list: "allow" | "ask" | "deny",
): { text: string; file: string | undefined; source: Judged["source"] }[] {
  return entries
    .filter(
      ({ path: [group, name], state }) => group === "permissions" && name === list && state.kind === "counts",
    )
    .toSorted((left, right) => right.rank - left.rank)
    .map(({ value, file, source }) => ({ text: String(value), file, source }));
}

/** A tool that a bare rule denies can never run: the model is not offered it at all. */
export function offeredTools(tools: readonly Tool[], { deny }: Rules): Tool[] {
  const hidden = new Set(deny.filter(({ pattern }) => pattern.kind === "any").map(({ tool }) => tool));
  return tools.filter(({ name, aliases }) => ![name, ...aliases].some((known) => hidden.has(known)));
}
