/**
 * Goes through a script in the order in which bash runs it and notes every simple command, wherever it stands, with
 * the directories that it may run in. `cd` is followed where it is plain; else nothing is known of the directory.
 */

import { knownText } from "../read/nodes.ts";
import { scriptsOf } from "../read/read-expansion.ts";
import type {
  Compound,
  Node,
  Operator,
  ParsedScript,
  Redirect,
  ScriptItem,
  Simple,
  Word,
} from "../read/syntax.ts";
import { type Argument, argumentsOf, assignedValue, type Known, targetOf } from "./arguments.ts";
import { changedDirectory } from "./directory.ts";

/** Every directory that it may be; undefined when nothing is known. */
export type Directories = readonly string[] | undefined;

export type Redirection = {
  readonly operator: Operator;
  readonly descriptor: string;
  readonly target: Argument;
  /** The text of a here-document. */
  readonly body?: Argument | undefined;
};

/** What is written behind a command for it to read: here-strings and here-documents. */
export const inputsOf = (redirections: readonly Redirection[]): Argument[] =>
  redirections.flatMap(({ operator, target, body }) => (operator === "<<<" ? [target] : body ? [body] : []));

/** A simple command, or redirections that stand alone. */
export type ShellStep = {
  /** The program and its arguments; empty when there are only assignments or redirections. */
  readonly words: readonly Argument[];
  readonly assignments: readonly { readonly name: string; readonly value: Argument }[];
  readonly redirections: readonly Redirection[];
  readonly directories: Directories;
  /** The output of another command is its input: of these, as far as they are known. */
  readonly pipedFrom: readonly ShellStep[];
  /** Where its words stand in the text; empty for what does not stand there as it is. */
  readonly spans: readonly (readonly [number, number])[];
};

/** Why the text as a whole does more than its simple commands show. */
export type Doubt = {
  /**
   * `flow`: it decides when and how often a command runs, but not which. `meaning`: words may not mean what they say.
   * `caution`: it is read, but it is not of the kind that is approved by reading alone.
   */
  readonly kind: "flow" | "meaning" | "caution";
  readonly text: string;
};

export type Walked = {
  readonly steps: readonly ShellStep[];
  readonly doubts: readonly Doubt[];
  /** Functions that it defines. */
  readonly functions: readonly string[];
};

export type WalkStart = { readonly directories: Directories; readonly known: Known };

/** Directories that are followed at once; more than that means that nothing is known. */
const maxDirectories = 8;

export function walk(script: ParsedScript, start: WalkStart): Walked {
  const walker = new Walker(start.known);
  walker.script(script, start.directories);
  return walker;
}

/** Where the shell stands after something: when it went well, and when it did not. */
type After = { readonly good: Directories; readonly bad: Directories };

class Walker {
  readonly steps: ShellStep[] = [];
  readonly doubts: Doubt[] = [];
  readonly functions: string[] = [];
  #known: Known;

  constructor(known: Known) {
    this.#known = known;
  }

  script({ items }: ParsedScript, from: Directories): After {
    let after: After = { good: from, bad: from };
    let operator: ScriptItem["operator"] = ";";
    for (const item of items) {
      const before = after;
      const start =
        operator === "&&" ? before.good : operator === "||" ? before.bad : union(before.good, before.bad);
      after = this.#node(item.node, start, []);
      if (item.operator === "&") {
        this.#flow("it runs something in the background");
        after = { good: start, bad: start };
      } else if (operator === "&&") after = { good: after.good, bad: union(before.bad, after.bad) };
      else if (operator === "||") after = { good: union(before.good, after.good), bad: after.bad };
      operator = item.operator;
    }
    return after;
  }

  #node(node: Node, from: Directories, pipedFrom: readonly ShellStep[]): After {
    if (node.kind === "simple") return this.#simple(node, from, pipedFrom);
    if (node.kind === "compound") return this.#compound(node, from);
    const only = node.nodes.length === 1 ? node.nodes[0] : undefined;
    if (only) {
      const { good, bad } = this.#node(only, from, pipedFrom);
      // It may be negated.
      return { good: union(good, bad), bad: union(good, bad) };
    }
    let feeding = pipedFrom;
    for (const part of node.nodes) {
      const first = this.steps.length;
      this.#node(part, from, feeding);
      feeding = this.steps.slice(first);
    }
    return { good: from, bad: from };
  }

  #simple(node: Simple, from: Directories, pipedFrom: readonly ShellStep[]): After {
    const known = this.#knownIn(from);
    const place = this.steps.length;
    const words: Argument[] = [];
    for (const word of node.words) words.push(...this.#arguments(word, known));
    const step: ShellStep = {
      words,
      assignments: mapped(node.assignments, ({ name, value }) => ({
        name,
        value: assignedValue(value, known),
      })),
      redirections: mapped(node.redirects, (redirect) => redirection(redirect, known)),
      directories: from,
      pipedFrom,
      spans: node.words.map(({ start, end }) => [start, end] as const),
    };
    for (const { value } of node.assignments) this.#inside(value, from);
    for (const word of node.words) this.#inside(word, from);
    this.#insideRedirects(node.redirects, from);
    // Before what stands inside of its words, as it stands in the text.
    if (place === this.steps.length) this.steps.push(step);
    else this.steps.splice(place, 0, step);
    const moved = changedDirectory(words, from, this.#known.home);
    if (moved === "stays") return { good: from, bad: from };
    return { good: bounded(moved), bad: from };
  }

  #compound(node: Compound, from: Directories): After {
    for (const word of node.words) this.#inside(word, from);
    this.#insideRedirects(node.redirects, from);
    if (node.redirects.length > 0) this.#bareRedirections(node.redirects, from);
    this.#doubt(node);
    switch (node.form) {
      case "group":
        return this.#each(node.scripts, from);
      case "subshell":
      case "coproc":
        this.#each(node.scripts, from);
        return { good: from, bad: from };
      case "if":
        return this.#branches(node.scripts, from);
      case "condition":
      case "arithmetic":
        return { good: from, bad: from };
      case "function":
        // It is called wherever its name stands.
        if (node.name !== undefined) this.functions.push(node.name);
        this.#each(node.scripts, undefined);
        return { good: from, bad: from };
      default:
        return this.#loop(node, from);
    }
  }

  #each(scripts: readonly ParsedScript[], from: Directories): After {
    let after: After = { good: from, bad: from };
    for (const script of scripts) after = this.script(script, union(after.good, after.bad));
    return after;
  }

  #branches(scripts: readonly ParsedScript[], from: Directories): After {
    let all = from;
    for (const script of scripts) {
      const { good, bad } = this.script(script, all);
      all = union(all, union(good, bad));
    }
    return { good: all, bad: all };
  }

  /** A second round starts where the first one ended: if it moves, nothing is known from its start on. */
  #loop({ scripts }: Compound, from: Directories): After {
    const first = this.steps.length;
    for (const script of scripts) this.script(script, from);
    const moves = this.steps
      .slice(first)
      .some(({ words, directories }) => changedDirectory(words, directories, "") !== "stays");
    if (!moves) return { good: from, bad: from };
    for (let at = first; at < this.steps.length; at++) {
      const step = this.steps[at];
      if (step) this.steps[at] = { ...step, directories: undefined };
    }
    return { good: undefined, bad: undefined };
  }

  #doubt({ form, name, words }: Compound): void {
    switch (form) {
      case "function":
        return this.#meaning(`it defines the function ${name}`);
      case "coproc":
        return this.#meaning("it starts a coprocess");
      case "for":
      case "select":
        // A loop over PATH changes what every name in it means.
        return name !== undefined && /^[a-z][a-z0-9_]*$/.test(name)
          ? this.#flow(`it has a ${form}`)
          : this.#meaning(`it sets ${name ?? "variables"} in a loop`);
      case "while":
      case "until":
      case "case":
        return this.#flow(`it has a ${form}`);
      case "arithmetic":
        if (words.some(({ parts }) => parts.some((part) => part.kind !== "expansion" || !part.isPlain)))
          this.#meaning("it has arithmetic with names in it");
        return;
      case "condition":
        if (!isPlainCondition(words)) this.#meaning("it has a condition that is not plain");
        return;
      case "group":
      case "subshell":
      case "if":
        return;
    }
  }

  #flow(text: string): void {
    this.doubts.push({ kind: "flow", text });
  }

  #meaning(text: string): void {
    this.doubts.push({ kind: "meaning", text });
  }

  #arguments(word: Word, known: Known): readonly Argument[] {
    const found = argumentsOf(word, known);
    if (found) return found;
    this.#meaning("its braces make too many words");
    return [assignedValue(word, known)].map((argument) => ({
      ...argument,
      kind: "unknown",
      mayDivide: true,
    }));
  }

  #bareRedirections(redirects: readonly Redirect[], directories: Directories): void {
    const known = this.#knownIn(directories);
    const redirections = redirects.map((redirect) => redirection(redirect, known));
    this.steps.push({ words: [], assignments: [], redirections, directories, pipedFrom: [], spans: [] });
  }

  #inside({ parts }: Word, from: Directories): void {
    for (const part of parts) for (const script of scriptsOf(part)) this.script(script, from);
  }

  #insideRedirects(redirects: readonly Redirect[], from: Directories): void {
    for (const { target, body } of redirects) {
      this.#inside(target, from);
      if (body) this.#inside(body, from);
    }
  }

  #knownIn(directories: Directories): Known {
    const only = directories?.length === 1 ? directories[0] : undefined;
    const { variables } = this.#known;
    if (!variables.has("PWD") || variables.get("PWD") === only) return this.#known;
    const changed = new Map(variables);
    if (only === undefined) changed.delete("PWD");
    else changed.set("PWD", only);
    return { ...this.#known, variables: changed };
  }
}

/** Most commands have neither variables nor redirections: those share an empty list. */
const mapped = <From, To>(list: readonly From[], map: (item: From) => To): readonly To[] =>
  list.length === 0 ? none : list.map(map);
const none: readonly never[] = [];

const redirection = ({ operator, descriptor, target, body }: Redirect, known: Known): Redirection => ({
  operator,
  descriptor,
  target: operator === "<<<" ? assignedValue(target, known) : targetOf(target, known),
  ...(body ? { body: assignedValue(body, known) } : {}),
});

function union(left: Directories, right: Directories): Directories {
  if (left === right) return left;
  return left && right ? bounded([...new Set([...left, ...right])]) : undefined;
}

const bounded = (directories: Directories): Directories =>
  directories && directories.length > maxDirectories ? undefined : directories;

/** One question about a file or a comparison of two words that are known: nothing in it is evaluated. */
function isPlainCondition(words: readonly Word[]): boolean {
  const texts = words.map(knownText);
  if (texts.includes(undefined)) return false;
  const [first = "", second = ""] = texts;
  if (texts.length === 2) return /^-[abcdefghkprsuwxGLNOSnz]$/.test(first) && !leadsAway.test(second);
  return texts.length === 3 && /^(?:==?|!=)$/.test(second);
}

/** A path that starts or climbs somewhere else. */
const leadsAway = /^[~/]|(?:^|\/)\.\.(?:\/|$)/;
