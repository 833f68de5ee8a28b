/** What an imported session is not allowed any more, in words for the person who imports it. */
import { undisguised } from "../../kernel/text.ts";
import type { LeftOut } from "../../store/jsonl/import-rights.ts";

/** As many as a person reads. */
const maxNamed = 5;

/** One sentence for each kind; none when nothing was left out. */
export function sayLeftOut({ rules, folders, answers, lifted }: LeftOut): string[] {
  return [
    ...(rules.length > 0 ? [`What was allowed there is asked about here; left out: ${named(rules)}.`] : []),
    ...(folders.length > 0 ? [`Folders that it had beside its own are left out: ${named(folders)}.`] : []),
    ...(answers > 0
      ? [`${count(answers, "call")} of its unfinished turn had been allowed; here that counts as refused.`]
      : []),
    ...(lifted > 0
      ? ["Rules that deny or ask were taken away in it; here they stay until you take them away."]
      : []),
  ];
}

function named(all: readonly string[]): string {
  const more = all.length - maxNamed;
  const shown = all.slice(0, maxNamed).map((text) => undisguised(text.slice(0, 100)));
  return [...shown, ...(more > 0 ? [`${more} more`] : [])].join(", ");
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`;
