/** Reads what a `$` or a backtick starts. Scripts inside of it are read too, since they run. */
import { deeper, nested, peek, type ShellSource, Unreadable } from "./source.ts";
import type { ParsedScript, WordPart } from "./syntax.ts";

type Quotes = "bare" | "quoted";
/** Reads a double-quoted piece; given by the reader of words. */
type ReadQuoted = (source: ShellSource) => readonly WordPart[];

/** At a `$`. Undefined when it stands for itself. */
export function readDollar(
  source: ShellSource,
  quotes: Quotes,
  readQuoted: ReadQuoted,
): WordPart | undefined {
  const quoted = quotes === "quoted";
  source.at += 1;
  if (source.text[source.at] === "\\" && source.text[source.at + 1] === "\n")
    throw new Unreadable("a line ends behind a dollar sign");
  const sign = peek(source);
  if (sign === "(") return nested(source, () => readParenthesis(source, quotes, readQuoted));
  if (sign === "{") return nested(source, () => readBraces(source, quotes, readQuoted));
  if (sign === "[") {
    source.at += 1;
    return nested(source, () => readArithmetic(source, { close: "]", quoted, readQuoted }));
  }
  const [name] =
    /^(?:[A-Za-z_]\w*|\d|[@*#?$!-])/.exec(
      source.text.slice(source.at, source.end < source.at + 128 ? source.end : source.at + 128),
    ) ?? [];
  if (name === undefined) return undefined;
  source.at += name.length;
  return { kind: "variable", name: wholeName(source, name), quoted };
}

/** A name may be longer than what was looked at, and a joined line may go on with it. */
function wholeName(source: ShellSource, start: string): string {
  let name = start;
  if (!/^[A-Za-z_]/.test(start)) return name;
  for (let sign = peek(source); /^\w$/.test(sign); sign = peek(source)) {
    name += sign;
    source.at += 1;
  }
  return name;
}

function readParenthesis(source: ShellSource, quotes: Quotes, readQuoted: ReadQuoted): WordPart {
  const quoted = quotes === "quoted";
  const start = source.at;
  source.at += 1;
  if (peek(source) === "(") {
    source.at += 1;
    const arithmetic = tryArithmetic(source, { close: "))", quoted, readQuoted });
    if (arithmetic) return arithmetic;
    source.at = start + 1;
  }
  const inner = deeper(source, {});
  const script = source.readNested(inner, "parenthesis");
  source.at = inner.at;
  return { kind: "command", script, quoted };
}

type ArithmeticContext = { close: "))" | "]"; quoted: boolean; readQuoted: ReadQuoted };

/** Undefined when the parentheses do not close as those of arithmetic do: then it is a command after all. */
export function tryArithmetic(
  source: ShellSource,
  place: ArithmeticContext,
): (WordPart & { kind: "expansion" }) | undefined {
  const start = source.at;
  try {
    return readArithmetic(source, place);
  } catch (thrown) {
    if (!(thrown instanceof NotArithmetic)) throw thrown;
    if (source.budget.again-- <= 0) throw new Unreadable("too much of it looks like arithmetic and is not");
    source.at = start;
    return undefined;
  }
}

class NotArithmetic {}

function readArithmetic(
  source: ShellSource,
  { close, quoted, readQuoted }: ArithmeticContext,
): WordPart & { kind: "expansion" } {
  const scripts: ParsedScript[] = [];
  let isPlain = true;
  let depth = 0;
  let parentheses = 0;
  for (;;) {
    const sign = peek(source);
    if (sign === "") throw close === "]" ? new Unreadable("arithmetic is not closed") : new NotArithmetic();
    // Quotes do not quote in arithmetic: what stands in them runs.
    if (sign === "'" || sign === "\\") {
      const isOne = close === "]" || mayStillClose(source, parentheses);
      throw isOne ? new Unreadable("arithmetic is quoted") : new NotArithmetic();
    }
    if (sign === close[0] && depth === 0) break;
    const parts = readInside(source, sign, readQuoted);
    if (parts) {
      isPlain = false;
      for (const part of parts) scripts.push(...scriptsOf(part));
      continue;
    }
    if (sign === "(" || sign === "[") depth += 1;
    if (sign === ")" || sign === "]") depth -= 1;
    if (sign === "(") parentheses += 1;
    if (sign === ")") parentheses -= 1;
    if (!/^[\d\s+*/%()<>=!&|^~?:,-]$/.test(sign)) isPlain = false;
    source.at += 1;
  }
  for (const sign of close) {
    if (peek(source) !== sign) throw new NotArithmetic();
    source.at += 1;
  }
  return { kind: "expansion", scripts, quoted, isPlain };
}

/** Whether the parentheses close as those of arithmetic, with quotes as quotes or as signs like any other. */
const mayStillClose = (source: ShellSource, open: number): boolean =>
  (["quotes", "signs"] as const).some((as) => {
    const end = closingAt(source, { open, as });
    const isSure = end !== undefined && !/[$`]/.test(source.text.slice(source.at, end));
    // Inside of an expansion a parenthesis may close something else: then any two that close could be these.
    const rest = source.text.slice(isSure ? end : source.at, source.end);
    return (isSure ? /^\)(?:\\\n)*\)/ : /\)(?:\\\n)*\)/).test(rest);
  });

/** Where the parenthesis is that closes the innermost around the open ones. */
function closingAt(
  { text, at: start, end }: ShellSource,
  { open, as }: { open: number; as: "quotes" | "signs" },
): number | undefined {
  let depth = open;
  for (let at = start; at < end; at++) {
    const sign = text[at];
    if (as === "quotes" && sign === "\\") at += 1;
    else if (as === "quotes" && (sign === "'" || sign === '"')) {
      const close = text.indexOf(sign, at + 1);
      if (close < 0) return undefined;
      at = close;
    } else if (sign === "(") depth += 1;
    else if (sign === ")" && --depth < 0) return at;
  }
  return undefined;
}

/** What may stand inside of arithmetic and of `${ }` and runs something. */
function readInside(
  source: ShellSource,
  sign: string,
  readQuoted: ReadQuoted,
): readonly WordPart[] | undefined {
  if (sign === "$") {
    const part = readDollar(source, "quoted", readQuoted);
    return part ? [part] : [];
  }
  if (sign === "`") return [readBackticks(source, "quoted")];
  if (sign === '"') return readQuoted(source);
  return undefined;
}

/** `${name}` is a variable, `${#name}` a number; everything else may do more than it shows. */
function readBraces(source: ShellSource, quotes: Quotes, readQuoted: ReadQuoted): WordPart {
  const quoted = quotes === "quoted";
  const opening = source.at;
  source.at += 1;
  // New shells run `${ command; }` and `${|command;}`.
  if (/^[\s|(]?$/.test(peek(source))) throw new Unreadable("an expansion starts with a blank");
  const scripts: ParsedScript[] = [];
  for (let sign = peek(source); sign !== "}"; sign = peek(source)) {
    if (sign === "") throw new Unreadable("an expansion is not closed");
    const parts = readInside(source, sign, readQuoted);
    if (parts) for (const part of parts) scripts.push(...scriptsOf(part));
    else if (sign === "'") skipSingle(source, quotes);
    else if ((sign === "<" || sign === ">") && source.text[source.at + 1] === "(")
      throw new Unreadable("a process stands inside of an expansion");
    else source.at += sign === "\\" ? 2 : 1;
  }
  const inside = source.text.slice(opening + 1, source.at).replaceAll("\\\n", "");
  source.at += 1;
  if (/^(?:[A-Za-z_]\w*|\d+|[@*#?$!-])$/.test(inside)) return { kind: "variable", name: inside, quoted };
  return { kind: "expansion", scripts, quoted, isPlain: /^#[A-Za-z_]\w*$/.test(inside) };
}

/** In double quotes a single quote stands for itself before some operators, and quotes behind others. */
function skipSingle(source: ShellSource, quotes: Quotes): void {
  if (quotes === "quoted") throw new Unreadable("a single quote stands inside of a quoted expansion");
  const end = source.text.indexOf("'", source.at + 1);
  if (end < 0 || end >= source.end) throw new Unreadable("a single quote is not closed");
  source.at = end + 1;
}

export function scriptsOf(part: WordPart): readonly ParsedScript[] {
  switch (part.kind) {
    case "command":
    case "process":
      return [part.script];
    case "expansion":
      return part.scripts;
    case "array":
      return part.words.flatMap(({ parts }) => parts.flatMap(scriptsOf));
    case "text":
    case "variable":
      return [];
  }
}

/** The text between backticks is taken out first, with its escapes undone, and read as a script of its own. */
export function readBackticks(source: ShellSource, place: "bare" | "quoted" | "document"): WordPart {
  const escapable = place === "quoted" ? '$`\\"' : "$`\\";
  let text = "";
  source.at += 1;
  for (;;) {
    const sign = source.at < source.end ? (source.text[source.at] ?? "") : "";
    if (sign === "") throw new Unreadable("a backtick is not closed");
    if (sign === "`") break;
    const next = source.text[source.at + 1] ?? "";
    if (sign === "\\" && escapable.includes(next) && next !== "") {
      text += next;
      source.at += 2;
    } else {
      text += sign;
      source.at += 1;
    }
  }
  source.at += 1;
  const inner = deeper(source, { text, at: 0, end: text.length, isOriginal: false });
  return { kind: "command", script: source.readNested(inner, "end"), quoted: place !== "bare" };
}
