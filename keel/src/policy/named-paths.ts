/**
 * The paths that a command names, at every depth of what it runs: for sure, possibly, and as directories through which it
 * goes. Deny and ask rules about paths are laid over them. What only the run knows is said to be open.
 */
import { normalise } from "../kernel/path.ts";
import type { FoundName, PathFacts } from "../ports/workspace.ts";
import type { Analysis, ShellContext } from "../shell/meaning/analyse.ts";
import type { Argument } from "../shell/meaning/arguments.ts";
import { withInner } from "../shell/meaning/commands.ts";
import { writingRedirections } from "../shell/meaning/effects.ts";
import { programOf } from "../shell/meaning/inside.ts";
import { namesIn, namesInScript } from "../shell/meaning/named-words.ts";
import { absolutePatterns, pathScope } from "../shell/meaning/path-scope.ts";
import { inputsOf, type ShellStep } from "../shell/meaning/walk.ts";
import { gitDirectories } from "../shell/programs/git.ts";
import { gitShows } from "../shell/programs/git-shows.ts";
import { gitWords } from "../shell/programs/git-words.ts";
import {
  changesPlace,
  handsOn,
  rearranges,
  takesInputAsWords,
  takesScripts,
  treesOf,
} from "../shell/programs/hands-on.ts";
import { writtenTo } from "../shell/programs/writers.ts";

export type ReadAnalysis = Analysis & { readonly kind: "read" };

/** What was looked at for a command. */
export type Looked = {
  /** What paths are, where somebody has looked. */
  readonly paths: ReadonlyMap<string, PathFacts>;
  /**
   * What patterns find. Undefined when nobody has looked at all: then they are judged by their text. One without an entry
   * is one that cannot be told.
   */
  readonly found?: ReadonlyMap<string, readonly FoundName[]> | undefined;
};

export type NamedPaths = {
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  /** Names in words that are more than a name, where nobody knows what the program makes of them. */
  readonly possible: readonly string[];
  /** All that lies below these may be shown as well. */
  readonly trees: readonly string[];
  /** It reads what only the run knows. */
  readonly isOpen: boolean;
};

/** The patterns of a text, each once, from the root of the file system. */
export function patternsIn(analysis: ReadAnalysis): string[] {
  const steps = analysis.allSteps;
  if (steps.some(changesPatterns)) return [];
  return [
    ...new Set(
      steps.flatMap(({ words, redirections, directories }) =>
        [...words, ...redirections.map(({ target }) => target)].flatMap((word) =>
          word.kind === "glob" ? (absolutePatterns(word, directories) ?? []) : [],
        ),
      ),
    ),
  ];
}

/** What a pattern finds depends on these, so that nothing is known of any. */
const changesPatterns = ({ words, assignments }: ShellStep): boolean =>
  /^(?:shopt|set|setopt|unsetopt|emulate|enable)$/.test(words[0]?.text ?? "") ||
  assignments.some(({ name }) => /^(?:GLOB\w*|BASHOPTS|SHELLOPTS)$/.test(name)) ||
  words.some(({ text }) => /^[-+]O$|GLOBIGNORE|BASHOPTS|SHELLOPTS/.test(text));

/** Whether one of its commands may put other files under the names that another one reads. */
export function rearrangesFiles(analysis: ReadAnalysis): boolean {
  return analysis.allSteps.some((step) => {
    const { name, rest } = programOf(step);
    return rearranges(name, rest);
  });
}

export function namedPaths(analysis: ReadAnalysis, context: ShellContext, looked: Looked): NamedPaths {
  const names = new Names(context, looked);
  for (const step of analysis.allSteps) names.step(step);
  // Code that no text shows may read anything.
  names.isOpen ||= analysis.commands.flatMap(withInner).some(({ hides }) => hides);
  if (analysis.steps.length > 1 && rearrangesFiles(analysis))
    names.isOpen ||= analysis.steps.some(readsFiles);
  for (const proof of analysis.proofs) if (proof.ok) for (const path of proof.reads) names.reads.add(path);
  return {
    reads: [...names.reads],
    writes: [...names.writes],
    possible: [...names.possible],
    trees: [...names.trees],
    isOpen: names.isOpen,
  };
}

/** Whether it reads files without putting others in their place. */
function readsFiles(step: ShellStep): boolean {
  const { name, rest } = programOf(step);
  return (
    (handsOn(name) && !rearranges(name, rest)) || step.redirections.some(({ operator }) => operator === "<")
  );
}

/** The words that name what it writes to. */
export function writtenWords(step: ShellStep): readonly Argument[] {
  const { name, rest } = programOf(step);
  const written = writtenTo(name, rest);
  if (written.length + step.redirections.length === 0) return noWords;
  const named = written.flatMap((target) => (typeof target === "string" ? [] : [target]));
  return [...named, ...writingRedirections(step).map(({ target }) => target)];
}

const noWords: readonly Argument[] = [];

class Names {
  readonly reads = new Set<string>();
  readonly writes = new Set<string>();
  readonly possible = new Set<string>();
  readonly trees = new Set<string>();
  isOpen = false;
  readonly #context: ShellContext;
  readonly #looked: Looked;
  /** What was seen to, so that a text of many equal parts costs little more than one of them. */
  readonly #seen = new Map<ShellStep["directories"], Set<string>>();

  constructor(context: ShellContext, looked: Looked) {
    this.#context = context;
    this.#looked = looked;
  }

  step(step: ShellStep): void {
    const { name, rest } = programOf(step);
    const isBare = rest.length + step.redirections.length + step.assignments.length === 0;
    if (isBare && this.#isSeen(step, `${step.words[0]?.kind}\0${name}`)) return;
    // A program that only the run knows may be any.
    const shows = handsOn(name) || (step.words[0] !== undefined && step.words[0].kind !== "fixed");
    this.isOpen ||= changesPlace(name, rest);
    const isTree = treesOf(name, rest);
    for (const word of rest) this.#word(step, word, { program: name, shows, isTree: isTree !== undefined });
    if (isTree?.here) this.#all(this.trees, step.directories ?? this.#context.roots);
    for (const { operator, target } of step.redirections)
      if (operator === "<" || operator === "<>")
        this.#word(step, target, { program: "", shows: true, isTree: false });
    for (const { value } of step.assignments)
      if (value.kind === "fixed") this.#all(this.possible, this.#places(step, value) ?? []);
    if (takesScripts(name))
      for (const script of inputsOf(step.redirections))
        for (const word of namesInScript(script)) this.#all(this.possible, this.#places(step, word) ?? []);
    // What comes in by its input are words, and every word may be a name.
    if (takesInputAsWords(name))
      this.isOpen ||= rest.length === 0 || rest.some(({ text }) => handsOn(baseOf(text)));
    if (name === "git") this.#git(step, rest);
    for (const target of writtenWords(step)) this.#all(this.writes, this.#places(step, target) ?? []);
  }

  #word(
    step: ShellStep,
    word: Argument,
    { program, shows, isTree }: { program: string; shows: boolean; isTree: boolean },
  ): void {
    if (word.isProcess) return;
    // One and the same, of a wrapper and of the command in it.
    if (word.kind === "fixed" && this.#isSeen(step, `${shows}${isTree}${program}\0${word.text}`)) return;
    if (word.kind === "unknown") {
      this.isOpen ||= shows;
      return;
    }
    const places = word.text.startsWith("-") && word.kind === "fixed" ? [] : this.#places(step, word);
    if (!places) this.isOpen ||= shows;
    for (const path of places ?? []) {
      this.reads.add(path);
      if (isTree) this.trees.add(path);
    }
    const texts = word.kind === "glob" ? this.#wordsFound(step, word) : [word];
    for (const text of texts) {
      const { sure, possible } = namesIn(program, text);
      for (const name of sure) this.#all(this.reads, this.#places(step, name) ?? []);
      for (const name of possible) this.#all(this.possible, this.#places(step, name) ?? []);
    }
  }

  #isSeen({ directories }: ShellStep, what: string): boolean {
    const seen = this.#seen.get(directories) ?? new Set();
    const { size } = seen;
    this.#seen.set(directories, seen.add(what));
    return seen.size === size;
  }

  /** Where a word leads; undefined when only the run knows. A pattern that cannot be told stands for all below it. */
  #places(step: ShellStep, word: Argument): readonly string[] | undefined {
    if (word.kind === "glob") return this.#found(step, word);
    const place = pathScope(word, step.directories, this.#context);
    if (place.kind === "harmless") return [];
    if (place.kind === "unknown") {
      // Wherever it runs, a name may be meant from here.
      const guess = pathScope(word, this.#context.roots, this.#context);
      if (guess.kind === "inside") this.#all(this.possible, guess.paths);
      return undefined;
    }
    return place.paths.flatMap((path) => this.#throughProcess(path, step));
  }

  #found(step: ShellStep, word: Argument): readonly string[] | undefined {
    const patterns = absolutePatterns(word, step.directories);
    if (!patterns) return undefined;
    const found = patterns.map((pattern) => this.#looked.found?.get(pattern));
    const untold = patterns.filter((_, at) => found[at] === undefined).map(stemOf);
    this.#all(this.trees, untold);
    // Where somebody has looked and could not tell, links may lead anywhere; so they do below a process.
    const isAnywhere = (stem: string): boolean =>
      this.#looked.found !== undefined || /^\/+(?:proc|dev)\//.test(stem);
    if (untold.some(isAnywhere)) return undefined;
    return found.flatMap((names = []) => names.map(({ path }) => path));
  }

  /** The words that a pattern becomes: a file may be called `if=a`. */
  #wordsFound({ directories }: ShellStep, word: Argument): Argument[] {
    const patterns = absolutePatterns(word, directories) ?? [];
    return patterns.flatMap((pattern, at) => {
      const from = word.text.startsWith("/") ? 0 : (directories?.[at]?.length ?? -1) + 1;
      return (this.#looked.found?.get(pattern) ?? []).map(({ path }): Argument => {
        const text = path.slice(from);
        return { ...word, kind: "fixed", text, prefix: text, name: text, pattern: undefined };
      });
    });
  }

  /** Paths that lead through a process: to where it runs, to its root, to what it has open (proc(5)). */
  #throughProcess(path: string, { directories }: ShellStep): readonly string[] {
    if (!/^\/+(?:proc|dev)\//.test(path)) return [path];
    const plain = normalise(path);
    if (/^\/dev\/fd\/[^/]+\/.|^\/proc\/[^/]+\/(?:task\/[^/]+\/)?(?:fd|map_files|task\/?$)/.test(plain))
      this.isOpen = true;
    const [, place, rest = ""] = /^\/proc\/[^/]+\/(?:task\/[^/]+\/)?(cwd|root)(\/.*)?$/.exec(plain) ?? [];
    if (place === undefined) return [path];
    if (place === "root") return [path, `${rest}/`];
    if (!directories) this.isOpen = true;
    return [path, ...(directories ?? []).map((directory) => `${directory}${rest}`)];
  }

  #git(step: ShellStep, rest: readonly Argument[]): void {
    const shown = gitShows(rest);
    if (!shown) return;
    const directories = gitDirectories(gitWords(rest).before, step.directories);
    const here = { ...step, directories };
    const { roots } = this.#context;
    for (const path of shown.inRevision) {
      const inside = [...roots, ...(directories ?? [])].map((place) => `${place}/${path}`);
      this.#all(this.reads, inside);
      this.#all(this.trees, inside);
      // The repository may start above the workspace, and its paths with it.
      const names = path.split("/").slice(0, maxAbove);
      for (const at of names.keys())
        this.#all(
          this.possible,
          roots.map((root) => `${root}/${names.slice(at + 1).join("/")}`),
        );
    }
    const isThere = (path: string): boolean => this.#looked.paths.get(path)?.exists ?? false;
    const operands = shown.operands.map((operand) => this.#places(here, operand) ?? []);
    // So that somebody looks whether they are there.
    this.#all(this.reads, operands.flat());
    const named = operands.filter((places) => places.length > 0 && places.every(isThere));
    const paths = [...named, ...shown.paths.map((path) => this.#places(here, path) ?? [])].flat();
    this.#all(this.reads, paths);
    this.#all(this.trees, paths);
    const hasRevisions = shown.inRevision.length === 0 || named.length < operands.length;
    if (shown.isOpen || (paths.length === 0 && hasRevisions))
      this.#all(this.trees, [...roots, ...(directories ?? [])]);
  }

  #all(into: Set<string>, paths: readonly string[]): void {
    for (const path of paths) into.add(path);
  }
}

/** Folders of a path in a revision that may lie above the workspace. */
const maxAbove = 16;

const baseOf = (text: string): string => text.slice(text.lastIndexOf("/") + 1);

/** The directory before the first sign of a pattern. */
function stemOf(pattern: string): string {
  const start = /(?<!\\)[*?[]/.exec(pattern)?.index ?? pattern.length;
  return pattern.slice(0, pattern.lastIndexOf("/", start) + 1).replace(/\\(.)/g, "$1");
}
