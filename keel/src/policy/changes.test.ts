import { describe, expect, test } from "vitest";
import type { RuleSource } from "../protocol/verdict-facts.ts";
import { changeRules, learn, nothingLearnt, rulesInForce } from "./changes.ts";
import { noRules } from "./decide.ts";
import { parseRule } from "./rules.ts";

const rules = (source: RuleSource, ...texts: string[]) =>
  texts.flatMap((text) => parseRule(text, source) ?? []);

describe("what a session learns", () => {
  test("is added once, replaced as a whole, and taken away by its words", () => {
    const change = (kind: "add" | "replace" | "remove", ...texts: string[]) =>
      ({ type: "rules", change: kind, list: "deny", rules: texts }) as const;
    const added = learn(nothingLearnt, [change("add", "Read", "Bash"), change("add", "Read")]);
    expect(added.deny).toEqual(["Read", "Bash"]);
    expect(learn(added, [change("remove", "Read", "Edit")]).deny).toEqual(["Bash"]);
    expect(learn(added, [change("replace", "Edit")])).toEqual({ ...nothingLearnt, deny: ["Edit"] });
  });

  test("holds beside what it was given, from the moment at which it is learnt", () => {
    let learnt = nothingLearnt;
    const now = rulesInForce({ ...noRules, deny: rules("user", "Read") }, () => learnt);
    expect(now.deny.map(({ text }) => text)).toEqual(["Read"]);
    learnt = learn(learnt, [{ type: "rules", change: "add", list: "deny", rules: ["Bash", "no rule!"] }]);
    expect(now.deny.map(({ text }) => text)).toEqual(["Read", "Bash"]);
  });
});

describe("rules of one source", () => {
  test("change without a word of the others: a deny of another source stays", () => {
    const given = { ...noRules, deny: [...rules("managed", "Read", "Bash"), ...rules("local", "Read")] };
    const removed = changeRules(
      given,
      { type: "rules", change: "remove", list: "deny", rules: ["Read"] },
      "local",
    );
    expect(removed.deny.map(({ text, source }) => `${text} ${source}`)).toEqual([
      "Read managed",
      "Bash managed",
    ]);
    const replaced = changeRules(
      given,
      { type: "rules", change: "replace", list: "deny", rules: [] },
      "local",
    );
    expect(replaced.deny).toHaveLength(2);
  });
});
