/**
 * A rule that denies or asks, as all the ways to say what it names: other names of its program and its words, options
 * that stand in between and may or may not take the next word, words in another order where the order means nothing.
 * Both readings of an option are followed at once, as an engine for regular expressions does it: linear in the words.
 */
import type { Argument } from "../shell/meaning/arguments.ts";
import {
  alike,
  mayBeCut,
  mayBeOwnName,
  otherWords,
  programWords,
  takesGoals,
} from "../shell/programs/command-aliases.ts";
import { takesNext } from "../shell/programs/global-options.ts";
import { isRunner } from "../shell/programs/wrappers.ts";
import { type Level, optionLevel } from "./denied-option.ts";
import { joinedWords, matchesGlob, type ShellPattern } from "./shell-pattern.ts";

export type DeniedCommand = {
  readonly pattern: ShellPattern;
  readonly spellings: readonly Spelling[];
  /** The first name of the program that it is about; undefined where it is about any. */
  readonly program: string | undefined;
};

type Part =
  | { readonly kind: "word"; readonly words: readonly string[] }
  | { readonly kind: "glob"; readonly glob: ShellPattern & { kind: "glob" } }
  /** Any number of words. */
  | { readonly kind: "gap" };

export type Spelling = {
  /** The first name of its program. */
  readonly program: string;
  /** Where the rule says that it lies. */
  readonly path: string | undefined;
  readonly parts: readonly Part[];
  /** Options that the rule names: they may stand anywhere. */
  readonly options: readonly string[];
  /** More words may follow. */
  readonly isOpen: boolean;
};

/** More of them than any table makes of a rule. */
const maxSpellings = 32;

export function deniedCommand(pattern: ShellPattern): DeniedCommand {
  const [first = "", ...rest] = wordsOf(pattern);
  // A rule whose program is a star is about words, not about a program.
  if (first === "" || first.includes("*")) return { pattern, spellings: [], program: undefined };
  const [program = "", ...more] = programWords(first);
  const named = [...more, ...rest];
  const options = named.filter(isOption);
  const operands = named.filter((word) => !isOption(word)).map(plainPath);
  const isOpen = pattern.kind === "prefix" || (pattern.kind === "glob" && pattern.pieces.at(-1) === "");
  const spellings = otherWords(program, operands).map((words): Spelling => {
    const parts = words.filter((word) => !isOption(word)).map((word) => partOf(program, word));
    return {
      program,
      path: first.includes("/") ? plainPath(first) : undefined,
      // What does all that its words name may name others before.
      parts: takesGoals(program) ? parts.flatMap((part) => [{ kind: "gap" } as const, part]) : parts,
      options: [...options, ...words.filter(isOption)],
      isOpen: isOpen || takesGoals(program),
    };
  });
  return {
    pattern,
    spellings: spellings.slice(0, maxSpellings),
    // What a glob names is laid over all the words.
    program: pattern.kind === "glob" ? undefined : program,
  };
}

const wordsOf = (pattern: ShellPattern): readonly string[] =>
  pattern.kind === "glob" ? pattern.pieces.join("*").trim().split(" ") : pattern.words;

const isOption = (word: string): boolean => /^-./.test(word);

/** A path as it would be without detours that lead nowhere. */
export const plainPath = (word: string): string =>
  (word.includes("/") ? word.replace(/\/(?:\.?\/)+/g, "/").replace(/^\.\//, "") : word).toLowerCase();

function partOf(program: string, word: string): Part {
  if (word === "*") return { kind: "gap" };
  if (!word.includes("*")) return { kind: "word", words: alike(program, word) };
  return { kind: "glob", glob: { kind: "glob", pieces: word.split("*"), matchesBare: false } };
}

export type Among = {
  /** At which words the program may stand: only the first, or any from this one on. */
  readonly from: "first" | number;
  /** Words that the text does not show come behind. */
  readonly takesMore?: boolean;
};

/** How surely the words of a command are what a rule names. */
export function levelOf(spelling: Spelling, words: readonly Argument[], among: Among): Level {
  const found = new Run(spelling, among).over(words);
  return found === 0 ? 0 : lower(found, optionsIn(spelling, words));
}

const lower = (left: Level, right: Level): Level => (left < right ? left : right);
const higher = (left: Level, right: Level): Level => (left > right ? left : right);

/** The options that a rule names, wherever they stand; behind the operands of what runs others they are not its own. */
function optionsIn({ program, options, parts }: Spelling, words: readonly Argument[]): Level {
  if (options.length === 0) return 2;
  const isNamed = ({ text }: Argument): boolean =>
    isOption(text) || parts.some((part) => part.kind === "word" && part.words.includes(plainPath(text)));
  const end = isRunner(program) ? words.findIndex((word, at) => at > 0 && !isNamed(word)) : -1;
  const own = end < 0 ? words.slice(1) : words.slice(1, end + 1);
  const unknown: Level = own.some(({ kind, prefix }) => kind !== "fixed" && /^(?:-|$)/.test(prefix)) ? 1 : 0;
  const texts = own.filter(({ kind }) => kind === "fixed").map(({ text }) => text);
  return options.map((option) => higher(optionLevel(option, texts), unknown)).reduce<Level>(lower, 2);
}

/** One way of a rule over the words of a command. Its states are how much of the rule has been found. */
class Run {
  readonly #spelling: Spelling;
  readonly #among: Among;
  readonly #last: number;
  /** How surely so much was found, and the next word is not the value of an option. */
  #states: Level[] = [];
  /** The same where the next word is one. */
  #values: Level[] = [];
  #best: Level = 0;
  /** A word of a person's own may stand for another. */
  #takesNames = true;

  constructor(spelling: Spelling, among: Among) {
    this.#spelling = spelling;
    this.#among = among;
    this.#last = spelling.parts.length;
  }

  over(words: readonly Argument[]): Level {
    const { from } = this.#among;
    this.#takesNames = from === "first" || words.some(({ text }) => /alias/i.test(text));
    for (const [at, word] of words.entries()) {
      const isAlive = this.#states.length + this.#values.length > 0;
      if (from === "first" && at > 0 && !isAlive) break;
      if (isAlive) this.#take(word);
      if (from === "first" ? at === 0 : at >= from) this.#start(word);
      if (this.#best === 2) return 2;
    }
    const rest = this.#spelling.isOpen ? 0 : (this.#states[this.#last] ?? 0);
    const isWaiting = this.#among.takesMore && this.#states.length + this.#values.length > 0;
    return higher(higher(this.#best, rest), isWaiting ? 1 : 0);
  }

  #start(word: Argument): void {
    if (word.kind !== "fixed") {
      // Only the run knows which program it is.
      if (this.#among.from === "first") this.#best = higher(this.#best, 1);
      return;
    }
    if (this.#among.from !== "first" && !/^[\w./@#+-]+$/.test(word.text)) return;
    // A module may be attached to the letter that names it.
    const [name, ...more] = programWords(word.text.replace(/^-m(?=[a-z])/, ""));
    if (name !== this.#spelling.program) return;
    const started = new Run(this.#spelling, { from: "first" });
    started.#reach(0, pathLevel(this.#spelling.path, word.text));
    for (const text of more) started.#take({ ...word, text, prefix: text, name: text });
    this.#best = higher(this.#best, started.#best);
    for (const [at, level] of started.#states.entries()) if (level) this.#reach(at, level);
    for (const [at, level] of started.#values.entries()) if (level) this.#await(at, level);
  }

  #reach(at: number, level: Level): void {
    if (this.#spelling.parts[at]?.kind === "gap") this.#reach(at + 1, level);
    if (at === this.#last && this.#spelling.isOpen) this.#best = higher(this.#best, level);
    this.#states[at] = higher(this.#states[at] ?? 0, level);
  }

  #await(at: number, level: Level): void {
    this.#values[at] = higher(this.#values[at] ?? 0, level);
  }

  #take(word: Argument): void {
    const [states, values] = [this.#states, this.#values];
    this.#states = [];
    this.#values = [];
    for (const [at, level] of states.entries()) if (level) this.#next(at, level, word);
    for (const [at, level] of values.entries()) if (level) this.#asValue(at, level, word);
  }

  #asValue(at: number, level: Level, { kind, mayDivide }: Argument): void {
    this.#reach(at, level);
    // It may become several words, of which only the first is the value.
    if (kind === "unknown" && mayDivide) this.#anything(at);
  }

  #next(at: number, level: Level, word: Argument): void {
    const part = this.#spelling.parts[at];
    if (part?.kind === "gap") this.#reach(at, level);
    if (word.kind !== "fixed") this.#unknown(at, word);
    else if (/^[-+]./.test(word.text)) this.#option(at, level, word.text);
    else if (isMarker(word.text)) this.#reach(at, level);
    else if (part) {
      const found = lower(level, this.#partLevel(part, word.text));
      if (found) this.#reach(at + 1, found);
      else if (at === 0 && this.#mayBeOwnName(word.text)) this.#best = higher(this.#best, 1);
    }
  }

  #option(at: number, level: Level, text: string): void {
    const { program, options } = this.#spelling;
    const takes = options.length > 0 && text !== "--" ? "perhaps" : takesNext(program, text);
    // Behind all that a rule says exactly, an option makes it something else, or not.
    const isExtra = at === this.#last && !this.#spelling.isOpen && !options.includes(text);
    const left = isExtra ? lower(level, 1) : level;
    if (takes !== "yes") this.#reach(at, left);
    if (takes !== "no") this.#await(at, left);
  }

  /** What only the run knows: a word of the rule, an option, or, where it is divided, any number of words. */
  #unknown(at: number, { prefix, mayDivide, kind }: Argument): void {
    const part = this.#spelling.parts[at];
    if (prefix.startsWith("-")) {
      this.#reach(at, 1);
      this.#await(at, 1);
    }
    const start = plainPath(prefix);
    const mayBe =
      prefix === "" ||
      part === undefined ||
      (part.kind === "word" ? part.words.some((each) => each.startsWith(start)) : true);
    if (!mayBe && !(mayDivide && prefix.startsWith("-"))) return;
    if (mayDivide && (kind === "unknown" || prefix === "")) return this.#anything(at);
    if (part) this.#reach(at + 1, 1);
    if (prefix === "" || !part) {
      this.#reach(at, 1);
      this.#await(at, 1);
    }
  }

  #anything(from: number): void {
    for (let at = from; at <= this.#last; at++) {
      this.#reach(at, 1);
      this.#await(at, 1);
    }
  }

  #mayBeOwnName(text: string): boolean {
    return this.#takesNames && this.#last > 0 && mayBeOwnName(this.#spelling.program, text);
  }

  #partLevel(part: Part, text: string): Level {
    switch (part.kind) {
      case "gap":
        return 0;
      case "glob":
        return matchesGlob(part.glob, joinedWords([text.toLowerCase()])) ? 2 : 0;
      case "word":
        return wordLevel(this.#spelling.program, part.words, text);
    }
  }
}

/** How surely a word behind a program is one of these. */
export function wordLevel(program: string, words: readonly string[], text: string): Level {
  const found = formsOf(program, text).some((form) => words.includes(form));
  if (found || (text.includes("/") && words.some((word) => endsAs(text, word)))) return 2;
  return words.some((word) => mayBeCut(program, text.toLowerCase(), word)) ? 1 : 0;
}

/** What separates the words of a command from lists of words for it: `parallel git ::: push`. */
const isMarker = (text: string): boolean => /^:{3,4}\+?$/.test(text);

/** A program that a rule names with its place is surely another only if its name is. */
function pathLevel(path: string | undefined, text: string): Level {
  if (path === undefined) return 2;
  return plainPath(text) === path || endsAs(text, path) ? 2 : 1;
}

const endsAs = (text: string, path: string): boolean =>
  path.includes("/") && plainPath(text).endsWith(path.startsWith("/") ? path : `/${path}`);

/** A word as it may be written for a program: `runScript` of npm, `pod/x` of kubectl, `me@host`, `:app:publish`. */
function formsOf(program: string, text: string): readonly string[] {
  const plain = plainPath(text);
  if (program === "npm") return [plain, text.replace(/[A-Z]/g, (sign) => `-${sign.toLowerCase()}`)];
  if (program === "kubectl") return [plain, ...plain.split("/", 1), ...plain.split(/[/.]/, 1)];
  if (takesGoals(program)) return [plain, ...plain.split(":")];
  return /[@:]/.test(plain) ? [plain, plain.replace(/^.*@/, "").replace(/:.*$/, "")] : [plain];
}
