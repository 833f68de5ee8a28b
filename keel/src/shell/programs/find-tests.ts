/** The tests and actions of `find`: which only look, and what the others do. */
import { own } from "../../kernel/json.ts";
import type { Argument } from "../meaning/arguments.ts";

/** How many words follow it. */
const looking: Readonly<Record<string, number>> = Object.fromEntries([
  ..."-depth -d -mount -xdev -noleaf -daystart -ignore_readdir_race -noignore_readdir_race -warn -nowarn -true -false -empty -nouser -nogroup -readable -writable -executable -print -print0 -ls -prune -quit -not -a -and -o -or , ! ( )"
    .split(" ")
    .map((name) => [name, 0]),
  ..."-maxdepth -mindepth -name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -size -perm -user -group -uid -gid -links -inum -mtime -atime -ctime -mmin -amin -cmin -used -fstype -lname -ilname -printf -context -newer -anewer -cnewer -samefile"
    .split(" ")
    .map((name) => [name, 1]),
]);

const withPath = /^-(?:newer|anewer|cnewer|samefile|newer[aBcm][aBcm])$/;

/** What it looks through, and what it asks of what it finds. */
export function findWords(words: readonly Argument[]): { starts: Argument[]; rest: Argument[] } {
  let at = 0;
  while (/^-[HLP]$|^-O\d$/.test(words[at]?.text ?? "")) at += 1;
  const first = at;
  while (at < words.length && !/^[-(!,)]/.test(words[at]?.prefix ?? "")) at += 1;
  return { starts: words.slice(first, at), rest: words.slice(at) };
}

/** The files that tests compare with, or the first word that is more than a test. */
export function onlyLooks(rest: readonly Argument[]): readonly Argument[] | string {
  const paths: Argument[] = [];
  for (let at = 0; at < rest.length; at++) {
    const { text = "", kind = "fixed" } = rest[at] ?? {};
    const count = own(looking, text) ?? (/^-newer[aBcm][aBcmt]$/.test(text) ? 1 : undefined);
    if (kind !== "fixed" || count === undefined) return text;
    const value = rest[at + 1];
    if (count === 1) {
      if (value?.kind !== "fixed") return value?.text ?? text;
      if (withPath.test(text)) paths.push(value);
    }
    at += count;
  }
  return paths;
}

/** The commands that `-exec` and its like run, up to `;` or `+`. */
export function executedBy(rest: readonly Argument[]): (readonly Argument[])[] {
  const commands: (readonly Argument[])[] = [];
  for (let at = 0; at < rest.length; at++) {
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(rest[at]?.text ?? "")) continue;
    const start = at + 1;
    while (at < rest.length && !endsExecuted(rest, at)) at += 1;
    commands.push(rest.slice(start, at));
  }
  return commands;
}

/** Without `-exec` and its like, which are looked at on their own. */
export function withoutExecuted(rest: readonly Argument[]): Argument[] {
  const kept: Argument[] = [];
  for (let at = 0; at < rest.length; at++) {
    const word = rest[at];
    if (word && /^-(?:exec|execdir)$/.test(word.text))
      while (at < rest.length && !endsExecuted(rest, at)) at += 1;
    else if (word) kept.push(word);
  }
  return kept;
}

const endsExecuted = (rest: readonly Argument[], at: number): boolean =>
  rest[at]?.text === ";" || (rest[at]?.text === "+" && rest[at - 1]?.text === "{}");

/** The files that an action writes. */
export const writtenBy = (rest: readonly Argument[]): Argument[] =>
  rest.flatMap((word, at) => {
    const target = rest[at + 1];
    return /^-(?:fprint0?|fprintf|fls)$/.test(word.text) && target ? [target] : [];
  });
