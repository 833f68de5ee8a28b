/**
 * Arguments, read by one parser from a table. An option that takes a value takes the next argument as it is, whatever
 * it looks like: a value is never searched for options. What the table does not know is a usage fault.
 */
import { parseArgs } from "node:util";
import { type Fault, fault, reasonOf } from "../../kernel/fault.ts";

export type CliOption = {
  /** `flag` is there or not, `text` has a value (the last one counts), `list` may be given several times. */
  readonly kind: "flag" | "text" | "list";
  readonly says: string;
  /** What stands for the value in the help. */
  readonly value?: string;
  readonly short?: string;
  /** Further words behind it that go with it too: more values of a list, or what a flag may have. */
  readonly more?: RegExp;
  /** Other spellings, without the dashes. */
  readonly aliases?: readonly string[];
};

export type CliOptions = Readonly<Record<string, CliOption>>;

type ValueOf<Kind extends CliOption["kind"]> = Kind extends "flag"
  ? boolean
  : Kind extends "list"
    ? readonly string[]
    : string | undefined;

export type OptionValues<T extends CliOptions> = { readonly [Name in keyof T]: ValueOf<T[Name]["kind"]> };

export type Arguments<T extends CliOptions> = {
  readonly values: OptionValues<T>;
  readonly positionals: readonly string[];
};

/** How many words after one that the table does not know go with it; undefined where it is not known here either. */
export type PassOver = (unknown: {
  readonly spelling: string;
  /** What stands behind its `=`. */
  readonly inline: string | undefined;
  readonly next: string | undefined;
}) => 0 | 1 | undefined;

/** With `passOver`, what it knows is no fault although the table does not. */
export function parseArguments<const T extends CliOptions>(
  given: readonly string[],
  options: T,
  passOver?: PassOver,
): Arguments<T> {
  const config = Object.fromEntries(
    Object.entries(options).map(([name, option]) => [name, configOf(option)]),
  );
  let parsed: { values: Record<string, unknown>; positionals: string[] };
  try {
    parsed = parseArgs({
      args: joined(given, options, passOver),
      options: config,
      allowPositionals: true,
      strict: true,
    });
  } catch (thrown) {
    throw usage(wordsOf(thrown));
  }
  const values = Object.entries(options).map(([name, option]) => [
    name,
    parsed.values[name] ?? absent(option),
  ]);
  // The table that shaped the parse also shapes the type: names and kinds are the same.
  return { values: Object.fromEntries(values) as OptionValues<T>, positionals: parsed.positionals };
}

export const usage = (reason: string): Fault => fault("usage", { reason });

/** The one word that a command takes. The sentence is what it says when there is none, or more. */
export function oneWord(positionals: readonly string[], sentence: string): string {
  const [word, ...more] = positionals;
  if (word === undefined || more.length > 0) throw usage(sentence);
  return word;
}

/** A whole number of at least `least`. */
export function wholeNumber(name: string, text: string | undefined, least: number): number | undefined {
  if (text === undefined) return undefined;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least) return value;
  throw usage(`--${name} takes a whole number of at least ${least}, not ${shown(text)}.`);
}

/** A number above zero, such as an amount of money. Programs write the smallest ones with an exponent. */
export function amount(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = /^\d{0,12}(?:\.\d{1,18})?(?:(?<=\d)e-\d{1,2})?$/.test(text) ? Number(text) : Number.NaN;
  if (value > 0) return value;
  throw usage(`--${name} takes a number above zero, not ${shown(text)}.`);
}

export function oneOf<const T extends string>(
  name: string,
  text: string | undefined,
  known: readonly T[],
): T | undefined {
  if (text === undefined) return undefined;
  const found = known.find((item) => item === text);
  if (found !== undefined) return found;
  throw usage(`--${name} takes ${known.join(", ")}, not ${shown(text)}.`);
}

/** `Read, Bash(git log:*) Edit`: parts stand apart by commas or blanks, but not inside parentheses. */
export function splitList(texts: readonly string[]): string[] {
  const parts: string[] = [];
  for (const text of texts) {
    let part = "";
    let depth = 0;
    for (const character of text) {
      if (character === "(") depth += 1;
      if (character === ")") depth -= 1;
      const isGap = depth <= 0 && (character === "," || /\s/.test(character));
      if (!isGap) part += character;
      else if (part !== "") parts.push(part);
      if (isGap) part = "";
    }
    if (part !== "") parts.push(part);
  }
  return parts;
}

const configOf = (option: CliOption) => ({
  type: option.kind === "flag" ? ("boolean" as const) : ("string" as const),
  multiple: option.kind === "list",
  // Only flags may stand together behind one dash (`-pc`): a value has its own word.
  ...(option.kind === "flag" && option.short !== undefined ? { short: option.short } : {}),
});

const absent = ({ kind }: CliOption): unknown => (kind === "flag" ? false : kind === "list" ? [] : undefined);

/** Every option under its own name, and with its value as `--name=value`: so no value can be taken for an option. */
function joined(given: readonly string[], options: CliOptions, passOver?: PassOver): string[] {
  const names = namesOf(options);
  const out: string[] = [];
  for (let at = 0; at < given.length; at += 1) {
    const word = given[at] ?? "";
    const [, spelling = word, inline] = /^(--[^=]+)=(.*)$/s.exec(word) ?? [];
    const name = names.get(spelling);
    const option = name === undefined ? undefined : options[name];
    if (name === undefined || option === undefined) {
      const passed = passOver?.({ spelling, inline, next: given[at + 1] });
      if (passed === undefined && word === "--") return [...out, ...given.slice(at)];
      if (passed === undefined) out.push(word);
      at += passed ?? 0;
      continue;
    }
    const { kind, more } = option;
    const goesOn = (): boolean => more?.test(given[at + 1] ?? "") === true;
    if (kind === "flag") {
      out.push(inline === undefined || more ? `--${name}` : word);
      if (inline === undefined && goesOn()) at += 1;
      continue;
    }
    const value = inline ?? given[++at];
    if (value === undefined) throw usage(`--${name} needs a value.`);
    out.push(`--${name}=${value}`);
    while (kind === "list" && inline === undefined && goesOn()) out.push(`--${name}=${given[++at]}`);
  }
  return out;
}

/** Every spelling with its dashes, and the name that it stands for. */
function namesOf(options: CliOptions): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const [name, { aliases = [], short }] of Object.entries(options)) {
    for (const spelling of [name, ...aliases]) names.set(`--${spelling}`, name);
    if (short !== undefined) names.set(`-${short}`, name);
  }
  return names;
}

/** The parser's own words name the option; its advice is for programs, and is left out. */
function wordsOf(thrown: unknown): string {
  const words = reasonOf(thrown);
  const unknown = /^Unknown option '([^']*)'/.exec(words)?.[1];
  if (unknown === undefined) return `${words.split(". ")[0]?.replace(/\.$/, "")}.`;
  return `There is no option ${shown(unknown)}. A text that starts with a dash goes after --.`;
}

const shown = (text: string): string => JSON.stringify(text.length > 60 ? `${text.slice(0, 59)}…` : text);

/** Whether these arguments make Keel the executable of an SDK. What follows `--` is never an option. */
export function isWireInvocation(given: readonly string[]): boolean {
  const end = given.indexOf("--");
  const options = end === -1 ? given : given.slice(0, end);
  return options.some(
    (word, at) =>
      word === "--input-format=stream-json" ||
      (word === "--input-format" && options[at + 1] === "stream-json"),
  );
}
