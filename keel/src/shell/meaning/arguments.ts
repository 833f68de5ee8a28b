/** From words as written to the arguments that a program gets, as far as the text tells. */
import { type BracePiece, expandBraces } from "../read/braces.ts";
import { isPlainText } from "../read/source.ts";
import type { Word, WordPart } from "../read/syntax.ts";

export type Argument = {
  /** What it is: known to the last sign, a pattern that files decide about, or something that only the run knows. */
  readonly kind: "fixed" | "glob" | "unknown";
  /** What the program gets; of a glob the pattern, of what is unknown the source. */
  readonly text: string;
  /** Of a glob: the pattern as bash matches it, with a backslash before every sign that stands for itself. */
  readonly pattern?: string | undefined;
  /** What is known of its start. */
  readonly prefix: string;
  /** As a list of programs shows it: without quotes, or as written where the run decides. */
  readonly name: string;
  /** At the run it may become several words, or none. */
  readonly mayDivide: boolean;
  /** It is the name of a pipe to a command that stands in the text. */
  readonly isProcess: boolean;
  /** The variables whose values it shows. */
  readonly variables: readonly string[];
  /** It holds an expansion that does more than to show a value. */
  readonly isOpaque: boolean;
};

/** The same word with another text, which is known to the last sign. */
export const withText = (word: Argument, text: string): Argument => ({
  ...word,
  text,
  pattern: undefined,
  prefix: text,
  name: text,
});

/** A text that stands for itself in a pattern. */
export const escapePattern = (text: string): string => text.replace(/[\\*?[\]]/g, "\\$&");

/** What is known of variables and of the home directory while the text is judged. */
export type Known = { readonly home: string; readonly variables: ReadonlyMap<string, string> };

/** Undefined when braces make more of it than can be looked at. */
export function argumentsOf(word: Word, known: Known): readonly Argument[] | undefined {
  const [only] = word.parts;
  if (
    word.parts.length === 1 &&
    only?.kind === "text" &&
    (only.quoted || (only.text !== "" && isPlainText(only.text)))
  )
    return [asWritten(only.text)];
  // What braces leave empty without any quote is no word at all.
  return expandBraces(piecesOf(word.parts))
    ?.filter((pieces) => pieces.length > 0)
    .map((pieces) => argumentOf(pieces, known, word.source));
}

const asWritten = (text: string): Argument => ({
  kind: "fixed",
  text,
  prefix: text,
  name: text,
  mayDivide: false,
  isProcess: false,
  variables: [],
  isOpaque: false,
});

/** What follows a redirection. Braces may leave one word or many there, so that nothing is known of it. */
export function targetOf(word: Word, known: Known): Argument {
  const pieces = piecesOf(word.parts);
  const target = argumentOf(pieces, known, word.source);
  const hasBraces = pieces.some((piece) => "sign" in piece && !piece.quoted && piece.sign === "{");
  return hasBraces ? { ...target, kind: "unknown", prefix: "" } : target;
}

/** What an assignment gives: braces stay as they are. */
export const assignedValue = (word: Word, known: Known): Argument =>
  argumentOf(piecesOf(word.parts), known, word.source);

function piecesOf(parts: readonly WordPart[]): BracePiece[] {
  return parts.flatMap((part): BracePiece[] => {
    if (part.kind !== "text") return [{ part }];
    // An empty quote is a piece too: it keeps an empty word.
    if (part.text === "") return [{ sign: "", quoted: true }];
    return part.quoted
      ? [{ sign: part.text, quoted: true }]
      : [...part.text].map((sign) => ({ sign, quoted: false }));
  });
}

function argumentOf(pieces: readonly BracePiece[], known: Known, source: string): Argument {
  const build = new Build(known);
  pieces.forEach((piece, index) => {
    if ("part" in piece) build.part(piece.part);
    else build.sign(piece, { pieces, index });
  });
  return build.done(source);
}

class Build {
  #known: Known;
  #text = "";
  #pattern = "";
  #shown = "";
  #prefix: string | undefined;
  #isUnknown = false;
  #isGlob = false;
  #isAsWritten = true;
  #mayDivide = false;
  #isProcess = false;
  #isOpaque = false;
  #variables: string[] = [];

  constructor(known: Known) {
    this.#known = known;
  }

  sign(
    { sign, quoted }: { sign: string; quoted: boolean },
    at: { pieces: readonly BracePiece[]; index: number },
  ): void {
    this.#shown += sign;
    if (!quoted && sign === "~" && mayBeHome(at)) return this.#home(at);
    if (!quoted && (sign === "*" || sign === "?" || (sign === "[" && isClosed(at)))) this.#glob();
    this.#text += sign;
    this.#pattern += quoted || sign === "\\" ? escapePattern(sign) : sign;
  }

  part(part: WordPart): void {
    this.#isAsWritten = false;
    if (part.kind === "variable") return this.#variable(part);
    if (part.kind === "expansion" && part.isPlain) {
      // A number: it neither divides nor leads anywhere.
      this.#endPrefix();
      this.#isUnknown = true;
      return;
    }
    this.#isProcess ||= part.kind === "process";
    this.#isOpaque ||= part.kind === "expansion" || part.kind === "array";
    this.#unknown(
      part.kind === "command" || part.kind === "expansion" ? part.quoted : part.kind === "process",
    );
  }

  done(source: string): Argument {
    const kind = this.#isUnknown ? "unknown" : this.#isGlob ? "glob" : "fixed";
    return {
      kind,
      text: kind === "unknown" ? source : this.#text,
      ...(kind === "glob" ? { pattern: this.#pattern } : {}),
      prefix: this.#prefix ?? this.#text,
      name: this.#isAsWritten ? this.#shown : source,
      mayDivide: this.#mayDivide || this.#isGlob,
      isProcess: this.#isProcess,
      variables: this.#variables,
      isOpaque: this.#isOpaque,
    };
  }

  #variable({ name, quoted }: { name: string; quoted: boolean }): void {
    const value = this.#known.variables.get(name);
    this.#variables.push(name);
    if (value === undefined || (!quoted && !/^[\w./:@%+,-]*$/.test(value)))
      this.#unknown(quoted && name !== "@");
    else this.#put(value);
  }

  /** `~` is the home; `~name` that of someone else. */
  #home({ pieces, index }: { pieces: readonly BracePiece[]; index: number }): void {
    this.#isAsWritten = false;
    const next = pieces[index + 1];
    if (next === undefined || ("sign" in next && next.sign.startsWith("/"))) this.#put(this.#known.home);
    else this.#unknown(true);
  }

  #put(value: string): void {
    this.#text += value;
    this.#pattern += escapePattern(value);
  }

  #glob(): void {
    this.#endPrefix();
    this.#isGlob = true;
  }

  #unknown(quoted: boolean): void {
    this.#endPrefix();
    this.#isUnknown = true;
    this.#mayDivide ||= !quoted;
  }

  #endPrefix(): void {
    this.#prefix ??= this.#text;
  }
}

/** A bracket that nothing closes is only a bracket. */
const isClosed = ({ pieces, index }: { pieces: readonly BracePiece[]; index: number }): boolean => {
  for (let at = index + 1; at < pieces.length; at++) {
    const piece = pieces[at];
    // Behind so many signs it is taken for a pattern without a closer look.
    if (!piece || "part" in piece || piece.sign.includes("]") || at > index + longestBracket) return true;
  }
  return false;
};

const longestBracket = 64;

/** At the start of a word, and behind the `=` or a `:` of one that looks like an assignment. */
function mayBeHome({ pieces, index }: { pieces: readonly BracePiece[]; index: number }): boolean {
  if (index === 0 || index > longestTarget) return true;
  const last = pieces[index - 1];
  if (!last || !("sign" in last) || (last.sign !== "=" && last.sign !== ":")) return false;
  const before = pieces
    .slice(0, index)
    .map((piece) => ("sign" in piece && !piece.quoted ? piece.sign : "\0"));
  return /^[A-Za-z_]\w*\+?=(?:.*:)?$/.test(before.join(""));
}

/** Behind so many signs a tilde is taken for the home without a closer look. */
const longestTarget = 256;
