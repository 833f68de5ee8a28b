/** What a shell text is made of, as plain data: scripts of commands, commands of words, words of parts. */

/** Commands in a row. `operator` stands behind a command and says what comes of its outcome. */
export type ParsedScript = { readonly items: readonly ScriptItem[] };
export type ScriptItem = { readonly node: Node; readonly operator: "&&" | "||" | ";" | "&" };

export type Node = Simple | Pipeline | Compound;

export type Simple = {
  readonly kind: "simple";
  readonly assignments: readonly Assignment[];
  /** The program and its arguments; empty when there are only assignments or redirections. */
  readonly words: readonly Word[];
  readonly redirects: readonly Redirect[];
};

export type Pipeline = { readonly kind: "pipeline"; readonly nodes: readonly Node[] };

export type Compound = {
  readonly kind: "compound";
  readonly form:
    | "group"
    | "subshell"
    | "if"
    | "while"
    | "until"
    | "for"
    | "select"
    | "case"
    | "function"
    | "coproc"
    | "condition"
    | "arithmetic";
  /** The variable of a loop, the name of a function. */
  readonly name?: string;
  /** What is expanded before its scripts run: the list of a loop, the subject and patterns of a case, a condition. */
  readonly words: readonly Word[];
  readonly scripts: readonly ParsedScript[];
  readonly redirects: readonly Redirect[];
};

export type Assignment = { readonly name: string; readonly value: Word };

export type Operator = "<" | ">" | ">>" | ">|" | "<>" | "<<" | "<<-" | "<<<" | "<&" | ">&" | "&>" | "&>>";

export type Redirect = {
  readonly operator: Operator;
  /** What stands before the operator: "2", "{name}", or nothing. */
  readonly descriptor: string;
  readonly target: Word;
  /** The text of a here-document, once the reader has come to it. */
  readonly body?: Word;
};

/** One word as it stands in the text. `start` and `end` are -1 inside backticks, whose text is not the given one. */
export type Word = {
  readonly start: number;
  readonly end: number;
  readonly source: string;
  readonly parts: readonly WordPart[];
};

export type WordPart =
  /** Characters that stand for themselves; unquoted ones may still be a glob, a brace or a tilde. */
  | { readonly kind: "text"; readonly text: string; readonly quoted: boolean }
  /** `$name`, `${name}`, `$1`, `$?`. */
  | { readonly kind: "variable"; readonly name: string; readonly quoted: boolean }
  /** Any other expansion, with the scripts that stand inside of it. */
  | {
      readonly kind: "expansion";
      readonly scripts: readonly ParsedScript[];
      readonly quoted: boolean;
      /** Nothing but numbers and signs: what it gives is a number, and nothing runs. */
      readonly isPlain: boolean;
    }
  /** `$( )` and backticks. */
  | { readonly kind: "command"; readonly script: ParsedScript; readonly quoted: boolean }
  /** `<( )` and `>( )`. */
  | { readonly kind: "process"; readonly script: ParsedScript; readonly direction: "in" | "out" }
  /** `( )` behind the `=` of an assignment. */
  | { readonly kind: "array"; readonly words: readonly Word[] };
