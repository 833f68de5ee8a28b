/** Permission rules from all sources. What cannot be read as a rule is told, and matches nothing. */

import type { JudgedEntry } from "../../config/settings/entries.ts";
import type { LoadedSettings } from "../../config/settings/settings.ts";
import { fault } from "../../kernel/fault.ts";
import { changeRules, type RuleChange } from "../../policy/changes.ts";
import { noRules, type Rules } from "../../policy/decide.ts";
import { covers, type PermissionRule, parseRule } from "../../policy/rules.ts";
import type { ToolHead } from "../../ports/tool.ts";
import type { RuleList } from "../../protocol/settings.ts";
import type { RuleSource } from "../../protocol/verdict-facts.ts";

/** What stands where a rule should and is none. */
export type UnreadRule = {
  readonly text: string;
  readonly list: RuleList;
  readonly source: JudgedEntry["source"];
  /** A sentence for a person. */
  readonly problem: string;
};

export function readRules({ entries, settings }: Pick<LoadedSettings, "entries" | "settings">): {
  readonly rules: Rules;
  readonly unread: readonly UnreadRule[];
} {
  const unread: UnreadRule[] = [];
  const read = (list: RuleList): PermissionRule[] =>
    ruleTexts(entries, list).flatMap(({ text, file, source }) => {
      const rule = parseRule(text, source);
      if (!rule) unread.push({ text, list, source, problem: problemOf(text, { list, file }) });
      return rule ? [rule] : [];
    });
  const rules: Rules = {
    ...noRules,
    allow: read("allow"),
    ask: read("ask"),
    deny: read("deny"),
    protectedPaths: settings.permissions?.protectedPaths,
  };
  return { rules, unread };
}

/**
 * What was said for this start must not get lost: whoever forbids something by an option that cannot be read would
 * believe that it is forbidden. A rule of a file is told and passed over. Throws `usage`.
 */
export function refuseLost(unread: readonly UnreadRule[]): void {
  const lost = unread.find(
    ({ list, source }) => list !== "allow" && (source === "command-line" || source === "flags"),
  );
  if (!lost) return;
  const should = lost.list === "deny" ? "deny" : "ask about";
  const reason = `${JSON.stringify(lost.text)} is not a permission rule, and nothing is started without what it should ${should}. ${ruleForms}`;
  throw fault("usage", { reason });
}

/** Whether an administrator forbids something in words that cannot be read. */
export const isForbiddingLost = (unread: readonly UnreadRule[]): boolean =>
  unread.some(({ list, source }) => list !== "allow" && source === "managed");

function problemOf(text: string, { list, file }: { list: RuleList; file: string | undefined }): string {
  const place = file === undefined ? "" : ` in ${file}`;
  const effect = {
    allow: "was left out",
    ask: "was left out: what it should ask about is NOT asked because of it",
    deny: "was left out: what it should deny is NOT denied",
  }[list];
  return `${JSON.stringify(text)} (${list})${place} is not a permission rule and ${effect}. ${ruleForms}`;
}

/** How rules are written, for whoever wrote one that cannot be read. */
export const ruleForms =
  "A rule is Tool, Tool(exactly this), Bash(first words:*), Read(./a/path), WebFetch(domain:a.org) or mcp__server.";

/** The rules of one list that count, the weakest source first. */
function ruleTexts(
  entries: readonly JudgedEntry[],
  list: RuleList,
): { text: string; file: string | undefined; source: JudgedEntry["source"] }[] {
  return entries
    .filter(
      ({ path: [group, name], state }) => group === "permissions" && name === list && state.kind === "counts",
    )
    .toSorted((left, right) => right.rank - left.rank)
    .map(({ value, file, source }) => ({ text: String(value), file, source }));
}

/** A tool that a bare rule denies can never run: the model is not offered it at all. */
export function offeredTools<T extends ToolHead>(tools: readonly T[], { deny }: Rules): T[] {
  const all = deny.filter(({ pattern }) => pattern.kind === "any");
  const hidden = new Set(all.map(({ tool }) => tool));
  // A rule may name a whole server, or its tools with a star.
  const isOfServer = (name: string): boolean =>
    name.startsWith("mcp__") && all.some((rule) => covers(rule, name, { action: "use", target: name }));
  return tools.filter(
    ({ name, aliases }) => ![name, ...aliases].some((known) => hidden.has(known) || isOfServer(known)),
  );
}

/** Rules that change while a session is open. What a file says is changed there too, by whoever changes it here. */
export type LiveRules = {
  /** As they are whenever it is looked at. */
  readonly now: Rules;
  change(change: RuleChange, source: RuleSource): void;
};

export function liveRules(given: Rules): LiveRules {
  let current = given;
  return {
    now: {
      get allow() {
        return current.allow;
      },
      get ask() {
        return current.ask;
      },
      get deny() {
        return current.deny;
      },
      protectedPaths: given.protectedPaths,
    },
    change(change, source) {
      current = changeRules(current, change, source);
    },
  };
}
