/**
 * What can be typed to a question. An option that the engine offers has a letter; one that remembers a rule can also be
 * kept in a file, which the second letter names; a no may be followed by words for the model. All else means no.
 */
import type { WritableSource } from "../../../app/maintenance/settings-files.ts";
import type { AskOption } from "../../../protocol/ask.ts";
import { visible } from "../../../view/visible.ts";

export type Chosen = {
  readonly option: AskOption;
  /** Where the option's rule is kept beyond this session. */
  readonly keep?: WritableSource | undefined;
  /** What the person wants to say to the model. */
  readonly words?: string | undefined;
};

const places: readonly { readonly letter: string; readonly keep: WritableSource; readonly says: string }[] = [
  { letter: "l", keep: "local", says: "and from now on in this project, for you" },
  { letter: "p", keep: "project", says: "and from now on in this project, for everybody who trusts it" },
  { letter: "u", keep: "user", says: "and from now on in all your projects" },
];

/** The lines that a person reads, and the key that an empty line stands for. */
export function sayChoices(options: readonly AskOption[]): { lines: string[]; fallback: string } {
  const keys = keysOf(options);
  const lines = options.flatMap((option, index) => {
    const key = keys[index] ?? "";
    const told = option.takesWords ? `${option.label} (${key} and words)` : option.label;
    return [
      `  ${key.padEnd(2)} ${visible(told)}`,
      ...(option.preview === undefined ? [] : [`       that is: ${visible(option.preview)}`]),
      ...(option.rule === undefined ? [] : places.map(({ letter, says }) => `  ${key}${letter} … ${says}`)),
    ];
  });
  return { lines, fallback: keys[options.findIndex(({ verdict }) => verdict === "deny")] ?? "no" };
}

/** The option that a line means: its key, its name, `y` for the first that allows. All else is the first that denies. */
export function choose(options: readonly AskOption[], line: string): Chosen | undefined {
  const typed = line.trim();
  const word = typed.toLowerCase();
  const keys = keysOf(options);
  const denying = options.find(({ verdict }) => verdict === "deny");
  const allowing = options.find(({ verdict }) => verdict === "allow");
  if ((word === "y" || word === "yes") && allowing) return { option: allowing };
  for (const [index, option] of options.entries()) {
    const key = keys[index] ?? "";
    if (word === key || word === option.id.toLowerCase()) return { option };
    const place = places.find(({ letter }) => option.rule !== undefined && word === `${key}${letter}`);
    if (place) return { option, keep: place.keep };
    const words = option.verdict === "deny" ? wordsAfter(typed, [key, option.id]) : undefined;
    if (words !== undefined) return { option, words };
  }
  return denying && { option: denying };
}

function wordsAfter(typed: string, starts: readonly string[]): string | undefined {
  const [, first = "", rest = ""] = /^(\w+)[\s,:;.]+(\S[\s\S]*)$/.exec(typed) ?? [];
  return starts.some((start) => start.toLowerCase() === first.toLowerCase()) && rest !== ""
    ? rest
    : undefined;
}

/** The first letter of each option, or its number where the letter is taken. */
function keysOf(options: readonly AskOption[]): string[] {
  const taken = new Set(["y"]);
  return options.map(({ id }, index) => {
    const message = id.slice(0, 1).toLowerCase();
    const key = message === "" || taken.has(message) ? String(index + 1) : message;
    taken.add(key);
    return key;
  });
}
