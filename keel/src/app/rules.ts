/** Permission rules from the flags and the user's settings. What cannot be read as a rule is told, and matches nothing. */
import type { UserSettings } from "../config/user-settings.ts";
import { noRules, type Rules } from "../engine/policy/decide.ts";
import { parseRule, type Rule } from "../engine/policy/rules.ts";
import type { Tool } from "../engine/tools/define.ts";

export type RuleWish = {
  readonly allowedTools?: readonly string[] | undefined;
  readonly disallowedTools?: readonly string[] | undefined;
  readonly settings: UserSettings;
};

export type ReadRules = {
  readonly rules: Rules;
  /** Sentences for a person. */
  readonly problems: readonly string[];
};

export function readRules({ allowedTools = [], disallowedTools = [], settings }: RuleWish): ReadRules {
  const { allow = [], ask = [], deny = [] } = settings.permissions ?? {};
  const problems: string[] = [];
  const read = (texts: readonly string[]): Rule[] =>
    texts.flatMap((text) => {
      const rule = parseRule(text);
      if (!rule)
        problems.push(
          `${JSON.stringify(text)} is not a permission rule and was left out. A rule is Tool, Tool(exactly this) or Tool(first words:*).`,
        );
      return rule ? [rule] : [];
    });
  const rules: Rules = {
    ...noRules,
    allow: read([...allow, ...allowedTools]),
    ask: read(ask),
    deny: read([...deny, ...disallowedTools]),
    protectedPaths: settings.permissions?.protectedPaths,
  };
  return { rules, problems };
}

/** A tool that a bare rule denies can never run: the model is not offered it at all. */
export function offeredTools(tools: readonly Tool[], { deny }: Rules): Tool[] {
  const hidden = new Set(deny.filter(({ pattern }) => pattern.kind === "any").map(({ tool }) => tool));
  return tools.filter(({ name, aliases }) => ![name, ...aliases].some((known) => hidden.has(known)));
}
