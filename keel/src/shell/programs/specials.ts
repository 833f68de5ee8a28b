/** Programs whose words need more than a list of options to be judged. */
import { own } from "../../kernel/json.ts";
import { type Argument, withText } from "../meaning/arguments.ts";
import { has, pathValues, readOptions } from "../meaning/options.ts";
import { isOpenVariable } from "../meaning/path-scope.ts";
import { readAwkScript } from "./awk-script.ts";
import { executedBy, findWords, onlyLooks, withoutExecuted } from "./find-tests.ts";
import { git, gitVariables } from "./git.ts";
import { harmlessWrappers } from "./harmless-wrappers.ts";
import { anything, contents, fixedTexts, names, reads, type Special, unproved } from "./outcome.ts";
import { bashBuiltin, coreutils, nothingBy, type Obeys, procps, shimFiles } from "./reader.ts";
import { readSedScript } from "./sed-script.ts";

export const specialOf = (program: string): SpecialProgram | undefined => own(specials, program);

/** A program with its own judge, and what of the folder it obeys. */
type SpecialProgram = { readonly judge: Special; readonly obeys: Obeys };

/** It only prints its words. */
const shows: Special = () => reads([]);

const printf: Special = (words) => {
  const [format] = words;
  if (format?.kind !== "fixed" || format.text.startsWith("-"))
    return unproved("the format of printf is not known");
  // `%n` stores into a variable, whose name may hold code.
  const conversions = format.text.replaceAll("%%", "").match(/%[^%a-zA-Z(]*(?:\([^)]*\)T|.)?/gs) ?? [];
  const isPlain = conversions.every((conversion) => /(?:[diouxXeEfFgGcsbq]|\)T)$/.test(conversion));
  return isPlain ? reads([]) : unproved("the format of printf is not plain");
};

const test: Special = (words) => {
  const texts = fixedTexts(words);
  if (!texts) return unproved("only the run knows what is tested");
  // These look into a variable by name, and a name may hold code.
  if (texts.some((text) => text === "-v" || text === "-R")) return unproved("test looks into a variable");
  const paths = words.filter(
    (_, at) =>
      /^-[abcdefghkprsuwxGLNOS]$/.test(texts[at - 1] ?? "") || /^-(?:nt|ot|ef)$/.test(texts[at + 1] ?? ""),
  );
  return reads(names(paths.filter(({ text }) => text !== "]" && text !== "")));
};

const bracket: Special = (words, surroundings) =>
  words.at(-1)?.text === "]" ? test(words.slice(0, -1), surroundings) : unproved("a bracket is not closed");

const cd: Special = (words) => {
  const read = readOptions(words, "-L -P -e -@");
  if (typeof read === "string") return unproved(`cd: ${read}`);
  const [target, ...more] = read.operands;
  if (!target || more.length > 0 || target.text === "-") return unproved("cd goes somewhere else");
  return reads(names([target]));
};

const command: Special = (words) => {
  const [option] = words;
  if (option?.kind !== "fixed" || !/^-[vV]$/.test(option.text)) return unproved("command runs a program");
  return reads([]);
};

const dateOptions =
  "-d! -u -R -I? -r< --date! --utc --universal --rfc-email --iso-8601? --rfc-3339: --reference< --debug --help --version";
const date: Special = (words) => {
  const read = readOptions(words, dateOptions);
  if (typeof read === "string") return unproved(`date: ${read}`);
  const isFormat = read.operands.every(({ prefix }) => prefix.startsWith("+"));
  if (!isFormat || read.operands.length > 1) return unproved("date may set the clock");
  return reads(contents(pathValues(read, dateOptions)));
};

const sedOptions =
  "-n -E -r -s -u -z -l: -e: --quiet --silent --regexp-extended --separate --unbuffered --null-data --line-length: --expression: --posix --sandbox --debug --help --version";
const sed: Special = (words) => {
  const read = readOptions(words, sedOptions);
  if (typeof read === "string") return unproved(`sed: ${read}`);
  if (read.loose.length > 0) return unproved("a word may become an option of sed");
  const given = read.given
    .filter(({ name }) => name === "-e" || name === "--expression")
    .map(({ value }) => value);
  const [first, ...rest] = read.operands;
  const scripts = given.length > 0 ? given : [first];
  const texts = scripts.map((script) => (script?.kind === "fixed" ? script.text : undefined));
  if (texts.includes(undefined)) return unproved("only the run knows what sed does");
  if (!readSedScript(texts.join("\n")).isPlain) return unproved("the script of sed does more than to edit");
  return reads(contents(given.length > 0 ? read.operands : rest));
};

const awkOptions = "-F: -v: --field-separator: --assign: --posix --traditional --version -V";
const awk: Special = (words) => {
  const read = readOptions(words, awkOptions);
  if (typeof read === "string") return unproved(`awk: ${read}`);
  if (read.loose.length > 0) return unproved("a word may become an option of awk");
  const [program, ...files] = read.operands;
  if (program?.kind !== "fixed") return unproved("only the run knows what awk does");
  if (!readAwkScript(program.text).isPlain) return unproved("the program of awk may do more than to print");
  return reads(contents(files.filter(({ text }) => !/^[A-Za-z_]\w*=/.test(text))));
};

const jqOptions =
  "-r -c -S -e -n -s -R -j -a -C -M -h -V --raw-output --compact-output --sort-keys --exit-status --null-input --slurp --raw-input --join-output --ascii-output --color-output --monochrome-output --tab --indent: --unbuffered --stream --seq --help --version";
const jq: Special = (words) => {
  const { rest, problem } = withoutJqVariables(words);
  const read = readOptions(rest, jqOptions);
  if (problem !== undefined || typeof read === "string") return unproved(`jq: ${problem ?? read}`);
  const [filter, ...files] = read.operands;
  if (filter && filter.kind !== "fixed") return unproved("only the run knows what jq does");
  if (
    /\benv\b|\$ENV|\b(?:import|include|input_filename|get_search_list|modulemeta)\b/.test(filter?.text ?? "")
  )
    return unproved("the filter of jq looks beyond its input");
  return reads(contents(files));
};

/** `--arg name value` has two words, which no list of options can say. */
function withoutJqVariables(words: readonly Argument[]): { rest: Argument[]; problem: string | undefined } {
  const rest: Argument[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at];
    if (word && /^--(?:arg|argjson)$/.test(word.text)) {
      if (words.slice(at + 1, at + 3).some(({ kind, mayDivide }) => kind !== "fixed" || mayDivide))
        return { rest, problem: "a value is not known" };
      at += 2;
    } else if (word) rest.push(word);
  }
  return { rest, problem: undefined };
}

const tarOptions =
  "-t -f: -v -z -j -J -Z --list --file: --verbose --gzip --bzip2 --xz --zstd --lzma --exclude: --wildcards --no-recursion --strip-components: --full-time --numeric-owner --utc";
const tar: Special = (words) => {
  const [first, ...others] = words;
  // `tar tf a.tar`: the first word may go without its dash.
  const given =
    first?.kind === "fixed" && /^[a-zA-Z]+$/.test(first.text)
      ? [withText(first, `-${first.text}`), ...others]
      : words;
  const read = readOptions(given, tarOptions);
  if (typeof read === "string") return unproved(`tar: ${read}`);
  if (!has(read, "-t", "--list")) return unproved("tar does more than to list");
  if (read.loose.length > 0) return unproved("a word may become an option of tar");
  const archives = read.given.flatMap(({ name, value }) =>
    /^(?:-f|--file)$/.test(name) && value ? [value] : [],
  );
  // A colon makes it the archive of another machine.
  if (archives.length === 0 || archives.some(({ text, kind }) => kind !== "fixed" || text.includes(":")))
    return unproved("tar may read the archive of another machine");
  return reads(contents(archives));
};

const find: Special = (words) => {
  const { starts, rest } = findWords(words);
  if (words.slice(0, words.length - starts.length - rest.length).some(({ text }) => text === "-L"))
    return unproved("find -L follows links, which lead anywhere");
  if (starts.some(({ kind, prefix }) => kind !== "fixed" && prefix === ""))
    return unproved("a word may become an action of find");
  const looked = onlyLooks(withoutExecuted(rest));
  if (typeof looked === "string") return unproved(`find ${looked} is not known to only look`);
  const runs = executedBy(rest).map((command) =>
    command.map((word) => (word.text.includes("{}") ? anything : word)),
  );
  if (runs.some((command) => command.length === 0)) return unproved("find runs something");
  return {
    ...reads(names([...starts, ...looked])),
    runs,
    concerns: runs.length > 0 ? ["find runs a program for what it finds"] : [],
  };
};

const printenv: Special = (words) => {
  const texts = fixedTexts(words);
  if (!texts || texts.some((text) => text.startsWith("-")))
    return unproved("only the run knows what is shown");
  const closed = texts.filter((text) => !isOpenVariable(text)).map((text) => `it shows the variable ${text}`);
  return { kind: "reads", concerns: texts.length === 0 ? ["it shows every variable"] : closed };
};

const env: Special = (words) =>
  words.length === 0
    ? { kind: "reads", concerns: ["it shows every variable"] }
    : unproved("env runs a program");

const ps: Special = () => ({ kind: "reads", concerns: ["it shows what others run"] });

const yes: Special = () => ({ kind: "reads", concerns: ["it never ends by itself"] });

/** It sets variables, and a variable may change what the next command does. */
const read: Special = (words) => {
  const names = readOptions(words, "-r -s -d: -n: -t:");
  if (
    typeof names === "string" ||
    names.operands.some(({ kind, text }) => kind !== "fixed" || !/^[a-z_]+$/.test(text))
  )
    return unproved("read may set any variable");
  return { kind: "reads", concerns: ["it sets variables"] };
};

const xargsOptions =
  "-0 -r -t -n: -P: -L: -d: -I: -s: --null --no-run-if-empty --verbose --max-args: --max-procs: --max-lines: --delimiter:";
const xargs: Special = (words) => {
  const at = words.findIndex(
    ({ prefix }, index) => !prefix.startsWith("-") && !/^-[nPLdIs]$/.test(words[index - 1]?.text ?? ""),
  );
  const read = readOptions(at < 0 ? words : words.slice(0, at), xargsOptions);
  if (typeof read === "string" || at < 0) return unproved("xargs is used in a way that is not known");
  return {
    kind: "reads",
    runs: [[...words.slice(at), anything]],
    concerns: ["only the run knows what xargs passes on"],
  };
};

const sleep: Special = (words) =>
  words.every(({ kind, text }) => kind === "fixed" && /^\d+(?:\.\d+)?[smhd]?$/.test(text))
    ? reads([])
    : unproved("only the run knows how long it sleeps");

const go: Special = (words) =>
  words.length === 1 && words[0]?.text === "version" ? reads([]) : unproved("go runs more than a question");

const awks = nothingBy(
  "gawk manual: AWKPATH and AWKLIBPATH only for what a program includes, which is refused",
);

/** Judges with what they obey; programs that share both stand in one row. */
const rows: readonly (readonly [programs: string, judge: Special, obeys: Obeys])[] = [
  ["echo true false :", shows, bashBuiltin],
  ["printf", printf, bashBuiltin],
  ["test", test, bashBuiltin],
  ["[", bracket, bashBuiltin],
  ["cd", cd, bashBuiltin],
  ["command", command, bashBuiltin],
  ["read", read, bashBuiltin],
  ["date", date, coreutils],
  ["printenv", printenv, coreutils],
  ["env", env, coreutils],
  ["yes", yes, coreutils],
  ["sleep", sleep, coreutils],
  ["sed", sed, nothingBy("GNU sed manual: no file is read at the start")],
  ["awk gawk mawk", awk, awks],
  [
    "jq",
    jq,
    nothingBy("jq manual, modules: ~/.jq and what a filter imports, which is refused; jq starts nothing"),
  ],
  [
    "tar",
    tar,
    {
      variables: ["TAR_OPTIONS"],
      starts: ["gzip", "bzip2", "xz", "zstd", "lzma", "compress"],
      source: "GNU tar manual: TAR_OPTIONS; each compression is a program",
    },
  ],
  ["find", find, nothingBy("GNU findutils manual")],
  ["xargs", xargs, nothingBy("GNU findutils manual")],
  ["ps", ps, procps],
  [
    "go",
    go,
    {
      files: ["go.mod", "go.work", ".go-version", ...shimFiles],
      variables: ["GOROOT", "GOTOOLCHAIN", "GOENV", "GOFLAGS"],
      source: "Go toolchains: go.mod and go.work choose one, also for go version",
    },
  ],
  // Whose repository it is stands with its judge.
  ["git", git, { variables: gitVariables, source: "git(1), environment variables; gitrepository-layout(5)" }],
  ...Object.entries(harmlessWrappers).map(([program, judge]) => [program, judge, coreutils] as const),
];

const specials: Readonly<Record<string, SpecialProgram>> = Object.fromEntries(
  rows.flatMap(([programs, judge, obeys]) => programs.split(" ").map((name) => [name, { judge, obeys }])),
);
