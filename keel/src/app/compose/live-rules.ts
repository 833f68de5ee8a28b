/** Rules that change while a session is open. What a file says is changed there too, by whoever changes it here. */
import { changeRules, type RuleChange } from "../../policy/changes.ts";
import type { Rules } from "../../policy/decide.ts";
import type { RuleSource } from "../../policy/rules.ts";

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
