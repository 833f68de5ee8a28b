/**
 * Whether a command only reads: proved, or not. Nothing is taken as harmless for not being known: whatever a program,
 * an option, a variable or a redirection leaves open ends the proof with a sentence that says so. What is read but
 * should not be shown unasked (secrets, files outside, what only the run knows) is a concern beside a proof.
 */

import type { PlaceDemand, ProgramOutcome, Use } from "../programs/outcome.ts";
import { placeDemands } from "../programs/place.ts";
import type { ReadOnlyProgram } from "../programs/reader.ts";
import { readerOf } from "../programs/readers.ts";
import { specialOf } from "../programs/specials.ts";
import type { Argument } from "./arguments.ts";
import { has, pathValues, readOptions } from "./options.ts";
import { isOpenVariable, isSecret, pathScope, type ShellScope } from "./path-scope.ts";
import type { Redirection, ShellStep } from "./walk.ts";

export type Proof =
  | {
      readonly ok: true;
      /** The paths that it looks at, by their text: whoever runs it has to look at what they really are. */
      readonly reads: readonly string[];
      /** Why it should be asked about although it only reads. */
      readonly concerns: readonly string[];
      /** What must hold of the place, or it would do something else. */
      readonly place: readonly PlaceDemand[];
    }
  | { readonly ok: false; readonly because: string };

export function prove(step: ShellStep, scope: ShellScope): Proof {
  const prover = new Prover(step, scope);
  try {
    prover.assignments();
    prover.redirections();
    prover.program(step.words, 0);
    return { ok: true, reads: prover.reads, concerns: prover.concerns, place: prover.place };
  } catch (thrown) {
    if (thrown instanceof Unproved) return { ok: false, because: thrown.because };
    throw thrown;
  }
}

/** Ends a proof. */
class Unproved {
  readonly because: string;
  constructor(because: string) {
    this.because = because;
  }
}

/** Only named variables, with values that name nothing. */
const harmlessVariables = /^(?:LANG|LC_[A-Z]+|TZ|NO_COLOR|TERM|CI)$/;
const harmlessValue = /^(?!.*\.\.)[\w:+][\w.@:,+-]*(?:\/[\w+-]+)*$|^$/;

export const isHarmlessAssignment = ({ name, value }: ShellStep["assignments"][number]): boolean =>
  harmlessVariables.test(name) && value.kind === "fixed" && harmlessValue.test(value.text);

/** A copy of a descriptor, or a write to where nothing is kept. */
export function keepsNothing({ operator, target }: Redirection): boolean {
  if (target.kind !== "fixed") return false;
  if (operator === ">&" || operator === "<&") {
    if (/^(?:\d+-?|-)$/.test(target.text)) return true;
    if (operator === "<&") return false;
  }
  if (operator.startsWith("<")) return false;
  return /^\/dev\/(?:null|stdout|stderr)$/.test(target.text);
}

/** Wrappers inside of wrappers that are looked into. */
const maxWrapped = 8;

class Prover {
  readonly reads: string[] = [];
  readonly concerns: string[] = [];
  readonly place: PlaceDemand[] = [];
  readonly #step: ShellStep;
  readonly #world: ShellScope;

  constructor(step: ShellStep, scope: ShellScope) {
    this.#step = step;
    this.#world = scope;
  }

  assignments(): void {
    const { assignments, words } = this.#step;
    for (const assignment of assignments) {
      if (words.length === 0) throw new Unproved(`it sets ${assignment.name}`);
      if (!isHarmlessAssignment(assignment))
        throw new Unproved(`${assignment.name} may change what ${words[0]?.name} does`);
    }
  }

  redirections(): void {
    for (const redirection of this.#step.redirections) {
      const { operator, target, body, descriptor } = redirection;
      if (descriptor.startsWith("{")) throw new Unproved("a redirection sets a variable");
      if (keepsNothing(redirection)) continue;
      if (operator === "<") this.#place({ path: target, shows: "contents" });
      else if (operator === "<<" || operator === "<<-") this.#show([body ?? target]);
      else if (operator === "<<<") this.#show([target]);
      else throw new Unproved(`it writes to ${target.text}`);
    }
  }

  program(words: readonly Argument[], depth: number): void {
    const [program, ...rest] = words;
    // Redirections alone have been looked at.
    if (!program) return;
    if (program.kind !== "fixed" || program.name !== program.text)
      throw new Unproved(`only the run knows which program ${program.name} is`);
    this.#show(words);
    const special = specialOf(program.text);
    const reader = readerOf(program.text);
    const surroundings = { directories: this.#step.directories, world: this.#world };
    const demands = placeDemands(program.text, (special ?? reader)?.obeys ?? { source: "" }, surroundings);
    if (typeof demands === "string") throw new Unproved(demands);
    this.place.push(...demands);
    if (special) this.#follow(special.judge(rest, surroundings), depth);
    else if (reader) this.#byOptions(program.text, reader, rest);
    else throw new Unproved(`${program.text} is not known to only read`);
  }

  #follow(outcome: ProgramOutcome, depth: number): void {
    if (outcome.kind === "unproved") throw new Unproved(outcome.because);
    if (depth > maxWrapped) throw new Unproved("it is wrapped too often");
    this.concerns.push(...(outcome.concerns ?? []));
    this.place.push(...(outcome.place ?? []));
    for (const use of outcome.uses ?? []) this.#place(use);
    for (const words of outcome.runs ?? []) this.program(words, depth + 1);
  }

  #byOptions(program: string, reader: ReadOnlyProgram, rest: readonly Argument[]): void {
    const read = readOptions(rest, reader.options);
    if (typeof read === "string") throw new Unproved(`${program}: ${read}`);
    const { operands, loose } = read;
    if (reader.needs && !has(read, ...reader.needs)) throw new Unproved(`${program} does more than to read`);
    if (reader.operands === "none" && operands.length > 0)
      throw new Unproved(`${program} is given ${operands[0]?.text}`);
    if (reader.follows && has(read, ...reader.follows.with) && !has(read, ...reader.follows.unless))
      this.concerns.push(`${program} goes where links lead`);
    if (reader.takesLists && operands.some(({ prefix }) => prefix.startsWith("@")))
      throw new Unproved(`${program} would read further words from a file`);
    if (loose.length > 0 && !reader.isOpen)
      throw new Unproved(`${loose[0]?.text} may become an option of ${program}`);
    if (
      reader.most !== undefined &&
      (operands.length > reader.most || operands.some(({ mayDivide }) => mayDivide))
    )
      throw new Unproved(`${program} may write to ${operands.at(-1)?.text}`);
    const texts = reader.first && !has(read, ...reader.first.unless) ? reader.first.count : 0;
    const files = reader.operands === "text" ? [] : operands.slice(texts);
    for (const path of files)
      this.#place({ path, shows: reader.operands === "names" ? "names" : "contents" });
    for (const path of pathValues(read, reader.options)) this.#place({ path, shows: "contents" });
  }

  /** Words that a program may print: nothing in them may tell a secret. */
  #show(words: readonly Argument[]): void {
    for (const word of words) {
      const { variables, isOpaque, text } = word;
      // What a pattern finds is shown as well.
      if (word.kind === "glob") this.#place({ path: word, shows: "names" });
      if (isOpaque) throw new Unproved(`only the run knows what ${text} does`);
      const closed = variables.find((name) => !isOpenVariable(name));
      if (closed !== undefined) this.concerns.push(`it shows the variable ${closed}`);
    }
  }

  #place({ path, shows }: Use): void {
    if (path.kind === "fixed" && path.text === "-") return;
    const place = pathScope(path, this.#step.directories, this.#world);
    if (place.kind === "harmless") return;
    if (place.kind === "unknown") return void this.concerns.push(`only the run knows where ${path.text} is`);
    if (place.kind === "outside") return void this.concerns.push(`${path.text} lies outside`);
    if (shows === "contents" && mayBeSecret(path)) this.concerns.push(`${path.text} may hold a secret`);
    // A pattern is looked at by what stands before it.
    this.reads.push(...(path.kind === "glob" ? place.paths.map(stemOf) : place.paths));
  }
}

const mayBeSecret = ({ kind, text }: Argument): boolean =>
  isSecret(text) ||
  (kind === "glob" && text.split("/").some((name) => /[*?[]/.test(name) && secretPattern.test(name)));

/** Patterns that find hidden files, or files by the endings of keys. */
const secretPattern = /^(?:\.|id_)|(?:env|secrets?|credentials?|keys?|pem|p12|pfx)[*?]*$/i;

const stemOf = (path: string): string => {
  const start = /[*?[]/.exec(path)?.index ?? path.length;
  return path.slice(0, path.lastIndexOf("/", start) + 1);
};
