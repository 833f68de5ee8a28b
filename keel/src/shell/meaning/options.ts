/**
 * Options of a program, read against a list of those that are known. A list is a text: `-a` is a flag, `-n:` takes a
 * value, `-e!` one that may start with a dash, `-f<` the path of a file that is read, `-M?` may have a value attached, `-#`
 * stands for a number.
 */
import { own } from "../../kernel/json.ts";
import { type Argument, withText } from "./arguments.ts";

export type ReadOptions = {
  /** Every option as it is listed (`-n`, `--lines`), with its value. */
  readonly given: readonly { readonly name: string; readonly value: Argument | undefined }[];
  readonly operands: readonly Argument[];
  /** Operands that could turn out to be options. */
  readonly loose: readonly Argument[];
};

type OptionKind = "flag" | "text" | "any text" | "path" | "attached";

/** A sentence when an option is not known: then nothing is known of the whole call. */
export function readOptions(words: readonly Argument[], list: string): ReadOptions | string {
  const given: { name: string; value: Argument | undefined }[] = [];
  const operands: Argument[] = [];
  const loose: Argument[] = [];
  let isOver = false;
  for (let at = 0; at < words.length; at++) {
    const word = words[at];
    if (!word) break;
    if (isOver || !word.prefix.startsWith("-") || word.text === "-") {
      operands.push(word);
      if (!isOver && word.kind !== "fixed" && word.prefix === "" && !word.isProcess) loose.push(word);
      continue;
    }
    if (word.kind !== "fixed" && !isWhollyNamed(word, list))
      return `an option depends on the run: ${word.text}`;
    if (word.text === "--") {
      isOver = true;
      continue;
    }
    const read = word.text.startsWith("--") ? readLong(word, list) : readShort(word, list);
    if (typeof read === "string") return read;
    for (const { name, value, needsNext } of read) {
      const next = needsNext ? words[++at] : undefined;
      if (needsNext && !next) return `${name} has no value`;
      if (next?.mayDivide) return `the value of ${name} may be several words`;
      // If the program does not take it for a value, it is an option that nobody has looked at.
      if (next && /^-./.test(next.prefix) && !kindIn(list, name)?.startsWith("any"))
        return `the value of ${name} looks like an option`;
      given.push({ name, value: value ?? next });
    }
  }
  return { given, operands, loose };
}

/** `--include=*.ts`: whatever files it finds, every word still starts with that option. */
const isWhollyNamed = ({ kind, prefix }: Argument, list: string): boolean => {
  const equals = prefix.indexOf("=");
  return (
    kind === "glob" &&
    equals > 0 &&
    prefix.startsWith("--") &&
    /text$/.test(kindIn(list, prefix.slice(0, equals)) ?? "")
  );
};

export const has = ({ given }: ReadOptions, ...names: readonly string[]): boolean =>
  given.some(({ name }) => names.includes(name));

/** The values of options that name files to read. */
export function pathValues({ given }: ReadOptions, list: string): Argument[] {
  return given.flatMap(({ name, value }) => (value && kindIn(list, name) === "path" ? [value] : []));
}

type ParsedOption = {
  readonly name: string;
  readonly value: Argument | undefined;
  readonly needsNext: boolean;
};

function readLong(word: Argument, list: string): ParsedOption[] | string {
  const equals = word.text.indexOf("=");
  const name = equals < 0 ? word.text : word.text.slice(0, equals);
  const kind = kindIn(list, name);
  // Abbreviations are not known either: what they stand for changes with the version.
  if (kind === undefined) return `the option ${name} is not known to be harmless`;
  if (equals < 0) return [{ name, value: undefined, needsNext: kind !== "flag" && kind !== "attached" }];
  if (kind === "flag") return `the option ${name} takes no value`;
  return [{ name, value: restOf(word, equals + 1), needsNext: false }];
}

function readShort(word: Argument, list: string): ParsedOption[] | string {
  if (/^-\d+$/.test(word.text) && kindIn(list, "-#"))
    return [{ name: "-#", value: undefined, needsNext: false }];
  // `-version` and its like are listed whole.
  if (word.text.length > 2 && kindIn(list, word.text))
    return [{ name: word.text, value: undefined, needsNext: false }];
  const found: ParsedOption[] = [];
  const letters = [...word.text.slice(1)];
  for (const [index, letter] of letters.entries()) {
    const name = `-${letter}`;
    const kind = kindIn(list, name);
    if (kind === undefined) return `the option ${name} is not known to be harmless`;
    const isLast = index === letters.length - 1;
    if (kind === "flag" || (kind === "attached" && isLast)) {
      found.push({ name, value: undefined, needsNext: false });
      continue;
    }
    const from = 1 + letters.slice(0, index + 1).join("").length;
    found.push({ name, value: isLast ? undefined : restOf(word, from), needsNext: isLast });
    break;
  }
  return found;
}

const restOf = (word: Argument, from: number): Argument => withText(word, word.text.slice(from));

/** What a list says of an option; the last token counts. No table is made of it: a command has few options, a list many. */
function kindIn(list: string, name: string): OptionKind | undefined {
  for (let end = list.length; end >= 0; ) {
    const start = list.lastIndexOf(name, end);
    if (start < 0) return undefined;
    const isStart = start === 0 || /\s/.test(list[start - 1] ?? "");
    const token = isStart ? (/^\S+/.exec(list.slice(start, start + name.length + 2))?.[0] ?? "") : "";
    const [option, kind] = optionIn(token);
    if (option === name) return kind;
    end = start - 1;
  }
  return undefined;
}

function optionIn(token: string): readonly [string, OptionKind] {
  const kind = own(endings, token.at(-1) ?? "");
  return kind && (token.length > 2 || kind === "path") ? [token.slice(0, -1), kind] : [token, "flag"];
}

const endings: Readonly<Record<string, OptionKind>> = {
  ":": "text",
  "!": "any text",
  "<": "path",
  "?": "attached",
};
