/**
 * What an imported log may say about rights: whatever makes the session stricter stays, the rest is left out and counted.
 * Its remembered rules, folders and leaves of commands and skills go; an allowing answer in a turn that would go on
 * becomes a refusal; rules that deny or ask stay, and nothing takes them away.
 */
import { isObject } from "../../kernel/json.ts";
import type { RawRecord } from "./upgrade.ts";

export type LeftOut = {
  /** Rules that would have allowed something, each once. */
  readonly rules: readonly string[];
  /** Folders beside its own that the session had, each once. */
  readonly folders: readonly string[];
  /** Answers in an unfinished turn that allowed a call, and refuse it now. */
  readonly answers: number;
  /** Times that a rule which denies or asks was taken away; here it stays. */
  readonly lifted: number;
};

export class RightsFilter {
  readonly #rules = new Set<string>();
  readonly #folders = new Set<string>();
  /** What options of questions offer to remember, by question and option. */
  readonly #offered = new Map<string, string>();
  #answers = 0;
  #lifted = 0;

  leftOut(): LeftOut {
    return {
      rules: [...this.#rules],
      folders: [...this.#folders],
      answers: this.#answers,
      lifted: this.#lifted,
    };
  }

  change(record: RawRecord, turn: "finished" | "unfinished"): RawRecord {
    const { type, ask, answer, patch, input } = record;
    if (type === "ask.opened" && isObject(ask)) return { ...record, ask: this.#askWithout(ask) };
    if (type === "ask.closed" && isObject(answer))
      return { ...record, answer: this.#answerWithout(answer, { askId: record["askId"], turn }) };
    // Rules that a host added, and those of a command or a skill.
    if (type === "settings.changed" && isObject(patch) && patch["permissions"] !== undefined)
      return { ...record, patch: { ...patch, permissions: this.#stricter(patch["permissions"]) } };
    if (type === "input.accepted" && isObject(input))
      return { ...record, input: { ...input, allow: this.#drop(input["allow"]) } };
    return type === "tool.finished" ? { ...record, allow: this.#drop(record["allow"]) } : record;
  }

  #askWithout(ask: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
    if (!Array.isArray(ask["options"])) return ask;
    const options = ask["options"].map((option: unknown) => {
      if (!isObject(option)) return option;
      if (typeof option["rule"] === "string")
        this.#offered.set(`${ask["id"]} ${option["id"]}`, option["rule"]);
      return { ...option, rule: undefined };
    });
    return { ...ask, options };
  }

  #answerWithout(
    answer: Readonly<Record<string, unknown>>,
    { askId, turn }: { askId: unknown; turn: "finished" | "unfinished" },
  ): Readonly<Record<string, unknown>> {
    const picked = this.#offered.get(`${askId} ${answer["option"]}`);
    if (picked !== undefined) this.#rules.add(picked);
    const without = { ...answer, rules: this.#drop(answer["rules"]) };
    if (turn === "finished" || answer["verdict"] !== "allow") return without;
    this.#answers += 1;
    return { verdict: "deny", reason: "What was allowed elsewhere is not allowed here." };
  }

  /** Only ever more that is denied or asked about. */
  #stricter(changes: unknown): unknown {
    if (!Array.isArray(changes)) return undefined;
    const kept = changes.flatMap((change: unknown) => {
      if (!isObject(change)) return [];
      const { type, list, change: how, rules } = change;
      if (type === "rules" && (list === "deny" || list === "ask")) {
        if (how !== "add") this.#lifted += 1;
        return how === "remove" ? [] : [{ type, list, rules, change: "add" }];
      }
      // What was taken away from what is allowed is not there in the first place.
      if (how !== "remove") for (const folder of textsIn(change["folders"])) this.#folders.add(folder);
      if (how !== "remove") this.#drop(rules);
      return [];
    });
    return kept.length === 0 ? undefined : kept;
  }

  #drop(rules: unknown): undefined {
    for (const rule of textsIn(rules)) this.#rules.add(rule);
  }
}

const textsIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
