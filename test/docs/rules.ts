// What keeps the documents true: each rule takes pages and facts, and returns sentences about what is wrong.
import path from "node:path";
import type { Document } from "./documents.ts";
import { allCode, anchorsIn, inlineCode, linksIn, sectionOf } from "./markdown.ts";

/** Relative links that lead nowhere, also to a heading that is not there. */
export function brokenLinks(documents: readonly Document[], files: readonly string[]): string[] {
  const texts = new Map(documents.map(({ file, text }) => [file, text]));
  return documents.flatMap(({ file, text }) =>
    linksIn(text).flatMap(({ target, line }) => {
      if (/^[a-z]+:/.test(target)) return [];
      const [page = "", anchor] = target.split("#");
      const goal = page === "" ? file : path.posix.join(path.posix.dirname(file), page);
      if (!exists(goal, files)) return [`${file}:${line}: the link ${target} leads nowhere`];
      const known = anchorsIn(texts.get(goal) ?? "");
      const isMissing = anchor !== undefined && texts.has(goal) && !known.includes(anchor);
      return isMissing ? [`${file}:${line}: ${goal} has no heading #${anchor}`] : [];
    }),
  );
}

/**
 * Files and folders that a page names in code and that do not exist. A path may be given from the root or by its end
 * (`engine/session.ts`, `session.ts`); `{a,b}` stands for both; from a `<placeholder>` on, only the folder is looked at.
 * `others` are names that look like paths and are none of our files: the package's doors, what a build makes.
 */
export function missingPaths(
  documents: readonly Document[],
  { files, others }: { files: readonly string[]; others: readonly string[] },
): string[] {
  const tops = new Set(files.map((file) => file.split("/")[0] ?? ""));
  return documents.flatMap(({ file, text }) =>
    inlineCode(text).flatMap(({ text: code, line }) =>
      isPath(code, tops) && !others.includes(code)
        ? expanded(code)
            .filter((one) => !isNamed(one, files))
            .map((one) => `${file}:${line}: there is no ${one}`)
        : [],
    ),
  );
}

/** Scripts of npm that a page tells the reader to run and that package.json does not have. */
export function unknownScripts(documents: readonly Document[], scripts: readonly string[]): string[] {
  const commands = /\bnpm (?:run ([\w:-]+)|(start|test)\b)/g;
  return documents.flatMap(({ file, text }) =>
    allCode(text).flatMap(({ text: code, line }) =>
      [...code.matchAll(commands)]
        .map(([, named, short]) => named ?? short ?? "")
        .filter((script) => !scripts.includes(script))
        .map((script) => `${file}:${line}: package.json has no script ${script}`),
    ),
  );
}

export type KnownCommand = { readonly name: string; readonly options: readonly string[] };

/** Commands and options of `keel` that a page tells the reader to type and that the command line does not know. */
export function unknownCommands(documents: readonly Document[], known: readonly KnownCommand[]): string[] {
  return documents.flatMap(({ file, text }) =>
    allCode(text).flatMap(({ text: code, line }) =>
      typedCommands(code).flatMap((words) =>
        whyUnknown(words, known).map((why) => `${file}:${line}: ${why}`),
      ),
    ),
  );
}

/** What follows `keel` in each part of a shell line, without quoted texts and comments. */
function typedCommands(code: string): string[][] {
  const plain = code.replace(/"[^"]*"|'[^']*'/g, '""').replace(/(^|\s)#.*$/, "");
  return plain.split(/[|;&]+/).flatMap((part) => {
    const [, typed] = /(?:^|[\s/])keel\s+(.*)$/.exec(part) ?? [];
    return typed === undefined ? [] : [typed.trim().split(/\s+/)];
  });
}

function whyUnknown(words: readonly string[], known: readonly KnownCommand[]): string[] {
  const names = words.filter((word) => /^[a-z][a-z-]*$/.test(word));
  const isCommand = words[0] !== undefined && words[0] === names[0];
  const spoken = isCommand ? [names.slice(0, 2).join(" "), names[0] ?? ""] : [""];
  // The longer name first: `keel trust status` is not `keel trust`.
  const command = spoken.flatMap((name) => known.find((one) => one.name === name) ?? [])[0];
  const isGroup = words.length === 1 && known.some(({ name }) => name.startsWith(`${words[0]} `));
  if (!command) return isGroup ? [] : [`there is no command keel ${words.join(" ")}`];
  const options = words.filter((word) => /^--?[a-zA-Z]/.test(word)).map((word) => word.replace(/=.*$/, ""));
  return options
    .filter((option) => !command.options.includes(option))
    .map((option) => `keel ${command.name} has no option ${option}`.replace("  ", " "));
}

/** Types of events that the list under a heading leaves out, or lists although they do not exist. */
export function wrongEventList(page: Document, heading: string, types: readonly string[]): string[] {
  const listed = inlineCode(sectionOf(page.text, heading))
    .map(({ text }) => text)
    .filter((code) => /^[a-z]+\.[a-z]+$/.test(code));
  const unlisted = types.filter((type) => !listed.includes(type));
  const unknown = listed.filter((type) => !types.includes(type));
  return [
    ...unlisted.map((type) => `${page.file}: ${heading} leaves out ${type}`),
    ...unknown.map((type) => `${page.file}: ${heading} lists ${type}, which is no event`),
  ];
}

/** Generated pages that differ from what is generated now; a page that is missing differs too. */
export function stalePages(
  fresh: Readonly<Record<string, string>>,
  stored: (file: string) => string | undefined,
): string[] {
  return Object.entries(fresh)
    .filter(([file, text]) => stored(file) !== text)
    .map(([file]) => `${file} is stale; run: npm run reference`);
}

const decisionHeadings = ["Context", "Decision", "Consequences", "What would change our mind"];

/** Decisions that are not numbered one after the other, or lack one of their four parts. */
export function wrongDecisions(documents: readonly Document[]): string[] {
  return documents.flatMap(({ file, text }, index) => {
    const number = String(index + 1).padStart(4, "0");
    const name = path.posix.basename(file);
    const misnumbered = name.startsWith(`${number}-`) ? [] : [`${file}: expected the number ${number}`];
    const empty = decisionHeadings.filter((heading) => sectionOf(text, heading).trim() === "");
    return [...misnumbered, ...empty.map((heading) => `${file}: has no part "${heading}"`)];
  });
}

const endings = /\.(?:ts|tsx|mjs|js|json|jsonc|md|cmd)$/;

/** Looks like a path of this repository: it ends like one, or it starts at one of our folders. */
function isPath(code: string, tops: ReadonlySet<string>): boolean {
  if (!/^[\w.@{},<>*/-]+$/.test(code) || code.startsWith("~") || code.startsWith("/")) return false;
  const [top = "", ...rest] = code.split("/");
  return endings.test(code) || code.endsWith("/") || (rest.length > 0 && tops.has(top));
}

function expanded(code: string): string[] {
  const [whole, list] = /\{([^{}]*)\}/.exec(code) ?? [];
  if (whole === undefined || list === undefined) return [code];
  return list.split(",").flatMap((part) => expanded(code.replace(whole, part.trim())));
}

function isNamed(code: string, files: readonly string[]): boolean {
  const certain = /[<*]/.test(code) ? code.slice(0, code.search(/[^/]*[<*]/)) : code;
  const plain = certain.replace(/\/$/, "");
  return plain === "" || exists(plain, files) || files.some((file) => `/${file}/`.includes(`/${plain}/`));
}

const exists = (goal: string, files: readonly string[]): boolean => {
  const plain = goal.replace(/\/$/, "");
  return files.some((file) => file === plain || file.startsWith(`${plain}/`));
};
