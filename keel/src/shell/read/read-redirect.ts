/** Redirections: what stands before the operator, the operator and its word. A here-document gets its text later. */
import { readDocument, readWord } from "./read-word.ts";
import {
  deeper,
  isPlainText,
  peek,
  peekNext,
  type ShellSource,
  skipBlanks,
  take,
  Unreadable,
} from "./source.ts";
import type { Compound, Operator, Redirect, Word } from "./syntax.ts";

/** Longest first. */
const operators: readonly Operator[] = [
  "&>>",
  "&>",
  "<<<",
  "<<-",
  "<<",
  "<>",
  "<&",
  "<",
  ">>",
  ">|",
  ">&",
  ">",
];

const firstSigns = "<>&{0123456789";

/** Undefined when none starts here. */
export function readRedirect(source: ShellSource): Redirect | undefined {
  const sign = peek(source);
  if (sign === "" || !firstSigns.includes(sign)) return undefined;
  const start = source.at;
  const descriptor = takeDescriptor(source);
  const operator = isProcess(source) ? undefined : operators.find((signs) => take(source, signs));
  if (!operator) {
    source.at = start;
    return undefined;
  }
  skipBlanks(source);
  const word = readWord(source, "argument");
  if (!word) throw new Unreadable(`nothing follows ${operator}`);
  const target = operator === ">&" ? expandedTwice(source, word) : word;
  const redirect: { -readonly [Key in keyof Redirect]: Redirect[Key] } = { operator, descriptor, target };
  if (operator === "<<" || operator === "<<-")
    awaitDocument(source, redirect, (body) => {
      redirect.body = body;
    });
  return redirect;
}

/** The name of a file behind `>&` is expanded, and what comes of it once more. */
function expandedTwice(source: ShellSource, target: Word): Word {
  if (target.parts.every((part) => part.kind === "text" && isPlainText(part.text))) return target;
  const text = target.parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
  const again = readDocument(deeper(source, { text, at: 0, end: text.length, isOriginal: false }));
  const open = { kind: "expansion", scripts: [], quoted: false, isPlain: false } as const;
  return { ...target, parts: [...target.parts, ...again.parts.filter(({ kind }) => kind !== "text"), open] };
}

const isProcess = (source: ShellSource): boolean =>
  (peek(source) === "<" || peek(source) === ">") && peekNext(source) === "(";

/** Digits or `{name}` directly before the operator. */
function takeDescriptor(source: ShellSource): string {
  const start = source.at;
  let text = "";
  for (
    let sign = peek(source);
    /^[\w{}]$/.test(sign) && text.length < longestDescriptor;
    sign = peek(source)
  ) {
    text += sign;
    source.at += 1;
  }
  const sign = peek(source);
  const isOne = /^(?:\d+|\{[A-Za-z_]\w*\})$/.test(text);
  if (isOne && (sign === "<" || sign === ">") && !isProcess(source)) return text;
  source.at = start;
  return "";
}

const longestDescriptor = 64;

function awaitDocument(
  source: ShellSource,
  { target, operator }: Redirect,
  settle: (body: Word) => void,
): void {
  const texts = target.parts.flatMap((part) => (part.kind === "text" ? [part] : []));
  if (texts.length < target.parts.length || target.source.includes("$'"))
    throw new Unreadable("the delimiter of a here-document is not plain");
  source.pending.push({
    delimiter: texts.map(({ text }) => text).join(""),
    isLiteral: texts.some(({ quoted }) => quoted),
    stripsTabs: operator === "<<-",
    settle,
  });
}

/** The redirections behind a compound command. */
export function readRedirects(source: ShellSource, compound: Compound): Compound {
  const redirects: Redirect[] = [];
  for (;;) {
    skipBlanks(source);
    const redirect = readRedirect(source);
    if (!redirect) break;
    redirects.push(redirect);
  }
  return { ...compound, redirects: [...compound.redirects, ...redirects] };
}
