/** What a program may change about permissions when it answers a question, in the interface's words and in ours. */
import type { ChangeTarget, WantedChange } from "../../app/maintenance/change-permissions.ts";
import { never } from "../../kernel/result.ts";
import type { Ask } from "../../protocol/ask.ts";
import type { PermissionMode } from "../../protocol/settings.ts";

export type PermissionBehavior = "allow" | "deny" | "ask";
export type PermissionRuleValue = { toolName: string; ruleContent?: string };

/** Where a change is kept. `cliArg`: as if it had been said at the start of this session. */
export type PermissionUpdateDestination =
  | "userSettings"
  | "projectSettings"
  | "localSettings"
  | "session"
  | "cliArg";

export type PermissionUpdate =
  | {
      type: "addRules" | "replaceRules" | "removeRules";
      rules: PermissionRuleValue[];
      behavior: PermissionBehavior;
      destination: PermissionUpdateDestination;
    }
  | { type: "setMode"; mode: PermissionMode; destination: PermissionUpdateDestination }
  | {
      type: "addDirectories" | "removeDirectories";
      directories: string[];
      destination: PermissionUpdateDestination;
    };

export function changeOf(update: PermissionUpdate): WantedChange {
  const to = targets[update.destination];
  switch (update.type) {
    case "addRules":
    case "replaceRules":
    case "removeRules": {
      const rules = update.rules.map(ruleText);
      return { type: "rules", change: changes[update.type], list: update.behavior, rules, to };
    }
    case "setMode":
      return { type: "mode", mode: update.mode, to };
    case "addDirectories":
    case "removeDirectories":
      return { type: "folders", change: changes[update.type], folders: update.directories, to };
    default:
      return never(update);
  }
}

const targets: Readonly<Record<PermissionUpdateDestination, ChangeTarget>> = {
  userSettings: "user",
  projectSettings: "project",
  localSettings: "local",
  session: "session",
  cliArg: "command-line",
};

const changes = {
  addRules: "add",
  replaceRules: "replace",
  removeRules: "remove",
  addDirectories: "add",
  removeDirectories: "remove",
} as const;

const ruleText = ({ toolName, ruleContent }: PermissionRuleValue): string =>
  ruleContent === undefined ? toolName : `${toolName}(${ruleContent})`;

/** What the engine offers to remember, as the interface writes it. */
export function suggestionsFor(ask: Ask): PermissionUpdate[] {
  const offered = ask.options.flatMap(({ rule }) => (rule === undefined ? [] : [rulePartsOf(rule)]));
  // A question that offers no rule is asked in every mode, and will be asked again.
  if (offered.length === 0) return [];
  const { claims = [] } = ask;
  const onFiles = claims.length > 0 && claims.every(({ action }) => action === "write" || action === "read");
  const onlyWrites = onFiles && claims.every(({ action }) => action === "write");
  const isOutside = ask.facts?.claims.some(({ outside }) => outside) === true;
  // Hosts show what is offered as one answer, "for this session", and take it only if all of it is of that kind.
  if (onlyWrites && !isOutside && (ask.facts?.mode ?? "default") === "default")
    return [{ type: "setMode", mode: "acceptEdits", destination: "session" }];
  const destination = onFiles ? "session" : "localSettings";
  return offered.map((value) => ({ type: "addRules", behavior: "allow", destination, rules: [value] }));
}

function rulePartsOf(rule: string): PermissionRuleValue {
  const [, toolName = rule, ruleContent] = /^([^(]+)(?:\((.*)\))?$/s.exec(rule) ?? [];
  return { toolName, ...(ruleContent === undefined ? {} : { ruleContent }) };
}
