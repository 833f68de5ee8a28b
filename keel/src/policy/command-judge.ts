/**
 * A command as policy decides about it: what rules, proofs and facts about paths say of it. Whoever has read the command
 * brings one; the reader of shell texts is loaded for it, and with the first command only.
 */
import { familyOf } from "../protocol/tool-families.ts";
import { names, type PermissionRule, sayRule } from "./rules.ts";

export type Suggestion = {
  /** As it would stand in the settings. */
  readonly rule: string;
  /** What else it would let through, for a person. */
  readonly preview: string;
};

export type Touch = "yes" | "maybe" | "no";

export type Permit =
  | {
      readonly kind: "allowed";
      readonly by: "rule" | "mode" | "read-only";
      readonly because: string;
      /** Where it is by rules: those that it took, the first of them to be named. */
      readonly rules?: readonly PermissionRule[];
    }
  | { readonly kind: "open"; readonly because: string };

export type PermitRequest = {
  readonly tool: string;
  readonly allow: readonly PermissionRule[];
  readonly readOnly: "allowed" | "asked";
  readonly edits: "allow" | "open" | "deny";
};

export interface CommandJudge {
  /** How a deny or ask rule stands to it. */
  touch(rule: PermissionRule, tool: string): Touch;
  /** How what a rule names is spelled in it, where that is not as the rule has it. */
  spelling(rule: PermissionRule): string | undefined;
  /** Whether allow rules and proofs cover all of it. */
  permit(request: PermitRequest): Permit;
  /** Why the question about it may not be skipped by any mode: it writes what others run. */
  protectedWrite(): string | undefined;
  /** Why the question about it may not be skipped by any mode: it reads what is Keel's own. */
  ownRead(): string | undefined;
  /** Proved to do nothing but read. */
  onlyReads(): boolean;
  /** Why only a person may say yes to it: it destroys, goes outside of the workspace, or nobody understands it. */
  grave(): string | undefined;
  /** A rule that would stand for it from now on. */
  suggest(tool: string): Suggestion | undefined;
  /** Rules about no more than the kinds of command in it that an allow rule covers; undefined where one has no kind. */
  kindsUnder(rule: PermissionRule, tool: string): readonly string[] | undefined;
}

/** One that nobody has understood: only a rule about everything is about it, and nothing is offered. */
export const unreadCommand = (because: string): CommandJudge => ({
  touch: touchUnread,
  spelling: () => undefined,
  permit: ({ tool, allow }) => permitAny(tool, allow) ?? notUnderstood(because),
  protectedWrite: () => undefined,
  ownRead: () => undefined,
  onlyReads: () => false,
  grave: () => because,
  suggest: () => undefined,
  kindsUnder: () => undefined,
});

function touchUnread({ tool: named, pattern }: PermissionRule, tool: string): Touch {
  // Whatever it is, it may read and write any file.
  if (pattern.kind === "path") return "maybe";
  if (!isForCommands(named, tool)) return "no";
  if (pattern.kind === "any") return "yes";
  return pattern.kind === "shell" ? "maybe" : "no";
}

export const notUnderstood = (because: string): Permit => ({
  kind: "open",
  because: `it is not understood: ${because}`,
});

export const permitBy = (rule: PermissionRule, ...others: readonly PermissionRule[]): Permit => ({
  kind: "allowed",
  by: "rule",
  because: `${sayRule(rule)} allows it`,
  rules: [rule, ...others],
});

/** By a rule that lets every command of the tool run. */
/** What is denied to one tool that runs commands is denied to all of them: another name is no way around a rule. */
export const isForCommands = (rule: string, tool: string): boolean =>
  names({ tool: rule }, tool) || (familyOf(rule) === "shell" && familyOf(tool) === "shell");

export function permitAny(tool: string, allow: readonly PermissionRule[]): Permit | undefined {
  const blanket = allow.find((rule) => rule.tool === tool && rule.pattern.kind === "any");
  return blanket && permitBy(blanket);
}
