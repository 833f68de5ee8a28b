/**
 * Code in colours, by a few rules for each family of languages: words that the language owns, texts, comments, numbers.
 * A line at a time; what is open at its end (a comment, a long text) is carried to the next. A wrong guess costs a colour
 * and nothing else: the signs stay what they are. Pure.
 */
import type { TextRole, TextSpan } from "./styled.ts";

type Language = {
  readonly words: ReadonlySet<string>;
  /** What begins a comment to the end of the line. */
  readonly comment: RegExp | undefined;
  /** What opens a text or a comment over several lines, and what closes it. */
  readonly long: readonly (readonly [open: string, close: string, role: TextRole])[];
  readonly quotes: string;
};

/** What is open at the end of a line. */
export type CodeState = { readonly close: string; readonly role: TextRole } | null;

export function highlight(
  line: string,
  language: string,
  state: CodeState,
): { readonly spans: TextSpan[]; readonly state: CodeState } {
  const known = languageOf(language);
  if (!known || line.length > maxLine) return { spans: [{ text: line }], state: null };
  const spans: TextSpan[] = [];
  const push = (text: string, role?: TextRole): void => {
    if (text === "") return;
    const last = spans.at(-1);
    if (last && last.style?.role === role) spans[spans.length - 1] = spanOf(last.text + text, role);
    else spans.push(spanOf(text, role));
  };
  let at = 0;
  let open = state;
  while (at < line.length) {
    if (open) {
      const end = line.indexOf(open.close, at);
      const stop = end < 0 ? line.length : end + open.close.length;
      push(line.slice(at, stop), open.role);
      at = stop;
      if (end >= 0) open = null;
      continue;
    }
    const rest = line.slice(at);
    const long = known.long.find(([start]) => rest.startsWith(start));
    if (long) {
      push(long[0], long[2]);
      at += long[0].length;
      open = { close: long[1], role: long[2] };
      continue;
    }
    const token = tokenAt(rest, known);
    push(token.text, token.role);
    at += token.text.length;
  }
  return { spans, state: open };
}

/** Longer lines are data: nobody reads them in colours. */
const maxLine = 2_000;

const spanOf = (text: string, role: TextRole | undefined): TextSpan =>
  role ? { text, style: { role } } : { text };

function tokenAt(rest: string, { words, comment, quotes }: Language): { text: string; role?: TextRole } {
  if (comment?.test(rest)) return { text: rest, role: "comment" };
  const quote = rest[0] ?? "";
  if (quotes.includes(quote)) return { text: quotedAt(rest, quote), role: "string" };
  const word = /^[\p{L}_$@#-][\p{L}\p{N}_$-]*/u.exec(rest)?.[0];
  if (word !== undefined) {
    const plain = /^[\p{L}_$][\p{L}\p{N}_$]*/u.exec(rest)?.[0] ?? word;
    if (words.has(word)) return { text: word, role: "keyword" };
    return words.has(plain) ? { text: plain, role: "keyword" } : { text: plain };
  }
  const number = /^\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?[\w]*/.exec(rest)?.[0];
  if (number !== undefined) return { text: number, role: "number" };
  return { text: /^\s+/.exec(rest)?.[0] ?? [...rest][0] ?? rest };
}

function quotedAt(rest: string, quote: string): string {
  for (let at = 1; at < rest.length; at++) {
    if (rest[at] === "\\") at++;
    else if (rest[at] === quote) return rest.slice(0, at + 1);
  }
  return rest;
}

const set = (words: string): ReadonlySet<string> => new Set(words.split(" "));
const slash = /^\/\//;
const hash = /^#/;
const block: Language["long"] = [["/*", "*/", "comment"]];

const script = set(
  "abstract as async await break case catch class const continue debugger declare default delete do else enum export extends false finally for from function get if implements import in infer instanceof interface is keyof let namespace new null of package private protected public readonly return satisfies set static super switch this throw true try type typeof undefined using var void while with yield",
);
const curly = set(
  "abstract any as assert async await bool boolean break byte case catch chan char class const constexpr continue crate data def default defer do double dyn else enum explicit extends extern false final finally float fn for foreach func function fun go goto guard if impl implements import in inline inout instanceof int interface internal is lateinit let long loop map match mod move mut namespace native new nil null object open operator override package private protected protocol pub public range readonly ref return sealed select self short sizeof static string struct super suspend switch synchronized template this throw throws trait true try type typealias typedef typename union unsafe unsigned use using val var virtual void volatile when where while with yield",
);

const languages: Readonly<Record<string, Language>> = {
  script: {
    words: script,
    comment: slash,
    long: [...block, ["`", "`", "string"]],
    quotes: "\"'",
  },
  curly: { words: curly, comment: slash, long: block, quotes: "\"'" },
  python: {
    words: set(
      "False None True and as assert async await break case class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return self try while with yield",
    ),
    comment: hash,
    long: [
      ['"""', '"""', "string"],
      ["'''", "'''", "string"],
    ],
    quotes: "\"'",
  },
  ruby: {
    words: set(
      "BEGIN END alias and begin break case class def defined do else elsif end ensure false for if in module next nil not or redo require rescue retry return self super then true undef unless until when while yield",
    ),
    comment: hash,
    long: [],
    quotes: "\"'`",
  },
  shell: {
    words: set(
      "case do done elif else esac eval exec exit export fi for function if in local readonly return select set shift source then trap unset until while",
    ),
    comment: /^#(?!!?\{)/,
    long: [],
    quotes: "\"'",
  },
  sql: {
    words: set(
      "ADD ALTER AND AS ASC BEGIN BETWEEN BY CASE CHECK COMMIT CONSTRAINT CREATE CROSS DEFAULT DELETE DESC DISTINCT DROP ELSE END EXISTS FOREIGN FROM FULL GROUP HAVING IF IN INDEX INNER INSERT INTO IS JOIN KEY LEFT LIKE LIMIT NOT NULL OFFSET ON OR ORDER OUTER PRIMARY REFERENCES RETURNING RIGHT ROLLBACK SELECT SET TABLE THEN UNION UNIQUE UPDATE USING VALUES VIEW WHEN WHERE WITH " +
        "add alter and as asc begin between by case check commit constraint create cross default delete desc distinct drop else end exists foreign from full group having if in index inner insert into is join key left like limit not null offset on or order outer primary references returning right rollback select set table then union unique update using values view when where with",
    ),
    comment: /^--/,
    long: block,
    quotes: "\"'",
  },
  data: { words: set("true false null yes no on off"), comment: hash, long: [], quotes: "\"'" },
  json: { words: set("true false null"), comment: slash, long: block, quotes: '"' },
  markup: {
    words: new Set(),
    comment: undefined,
    long: [["<!--", "-->", "comment"]],
    quotes: "\"'",
  },
  style: {
    words: set("@media @import @layer @supports @keyframes @container !important from to"),
    comment: undefined,
    long: block,
    quotes: "\"'",
  },
  lisp: {
    words: set(
      "def defn defun defmacro fn if let lambda cond when unless do quote nil t true false setq ns require",
    ),
    comment: /^;/,
    long: [],
    quotes: '"',
  },
};

const aliases: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    script: "js jsx ts tsx javascript typescript mjs cjs mts cts",
    curly:
      "c h cc cpp hpp cxx c++ cs csharp java kt kotlin go golang rust rs swift scala dart php zig objc proto graphql groovy solidity",
    python: "py python python3 pyi starlark bzl",
    ruby: "rb ruby",
    shell: "sh bash zsh fish shell console shell-session dockerfile docker makefile make",
    sql: "sql mysql postgres postgresql sqlite plsql",
    data: "yaml yml toml ini conf cfg properties env nix",
    json: "json jsonc json5 jsonl",
    markup: "html xml svg vue svelte xhtml",
    style: "css scss less",
    lisp: "lisp clojure clj scheme elisp el",
  }).flatMap(([name, all]) => all.split(" ").map((alias) => [alias, name])),
);

const languageOf = (name: string): Language | undefined => {
  const known = Object.hasOwn(aliases, name.toLowerCase()) ? aliases[name.toLowerCase()] : undefined;
  return known === undefined ? undefined : languages[known];
};
