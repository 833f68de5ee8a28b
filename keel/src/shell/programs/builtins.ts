/** Builtins that read their words once more: a name may have an index, an index is evaluated, and so is what is in it. */
import { own } from "../../kernel/json.ts";
import type { Argument } from "../meaning/arguments.ts";
import { type Inside, valuesOf } from "./option-programs.ts";

/** Undefined for what is no such builtin. */
export const insideBuiltin = (name: string, rest: readonly Argument[]): Inside | undefined =>
  own(builtins, name)?.(rest);

type BuiltinReader = (rest: readonly Argument[]) => Inside;

const showsCode = ({ text, kind }: Argument): boolean => kind !== "unknown" && /\$\(|`/.test(text);
const holdsCode = (word: Argument): boolean => word.kind === "unknown" || showsCode(word);
/** Only the run knows what it is. */
const mayBeOption = ({ kind, prefix }: Argument): boolean => kind !== "fixed" && /^(?:-|$)/.test(prefix);
const has = (rest: readonly Argument[], ...options: readonly string[]): boolean =>
  rest.some(({ text }) => options.some((option) => text === option || text.startsWith(option)));

const names: BuiltinReader = (rest) => ({ inner: [], hides: rest.some(holdsCode) });
const namesWith =
  (...options: readonly string[]): BuiltinReader =>
  (rest) => ({
    inner: [],
    hides: has(rest, ...options) ? rest.some(holdsCode) : rest.some(mayBeOption) && rest.some(showsCode),
  });

/** What is called for every few lines, or to complete a word. */
const called =
  (...hiding: readonly string[]): BuiltinReader =>
  (rest) => ({
    inner: valuesOf(rest, "-C").map((script) => ({ script })),
    hides: has(rest, ...hiding) || (has(rest, "-C") && rest.some(({ kind }) => kind === "unknown")),
  });

const builtins: Readonly<Record<string, BuiltinReader>> = {
  printf: namesWith("-v"),
  test: namesWith("-v", "-R"),
  "[": namesWith("-v", "-R"),
  wait: namesWith("-p"),
  unset: names,
  read: names,
  let: names,
  declare: names,
  typeset: names,
  local: names,
  readonly: names,
  export: names,
  getopts: names,
  mapfile: called(),
  readarray: called(),
  compgen: called("-F", "-W"),
  complete: called("-F", "-W"),
  bind: (rest) => ({ inner: [], hides: has(rest, "-x", "-f") }),
  enable: (rest) => ({ inner: [], hides: has(rest, "-f") }),
};
