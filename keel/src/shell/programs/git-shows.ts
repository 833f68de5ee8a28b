/**
 * Which commands of git show or hand on the contents of files, and of which files. From git's own pages: git-diff(1) for
 * the options that make a patch, git(1) for the list of commands, gitrevisions(7) for `revision:path`, gitglossary(7) for
 * pathspecs.
 */
import { own } from "../../kernel/json.ts";
import type { Argument } from "../meaning/arguments.ts";
import { gitWords } from "./git-words.ts";

export type GitShown = {
  /** Revisions or paths: git takes what is there for a path. */
  readonly operands: readonly Argument[];
  /** Paths for sure. */
  readonly paths: readonly Argument[];
  /** Paths of the repository, as in `HEAD:src/a.ts`. */
  readonly inRevision: readonly string[];
  /** It follows renames, or its words do not tell which paths it shows. */
  readonly isOpen: boolean;
};

/** Undefined when it shows no contents. */
export function gitShows(words: readonly Argument[]): GitShown | undefined {
  const { before, subcommand, rest } = gitWords(words);
  // Only a question about git itself goes without one.
  if (!subcommand) return undefined;
  const name = subcommand.kind === "fixed" ? subcommand.text : "";
  if (silent.has(name)) return undefined;
  const verbs = own(byVerb, name);
  if (verbs && !verbs.test(rest[0]?.text ?? "") && !rest.some((word) => isLoud(word, patching)))
    return undefined;
  const loud = own(withPatch, name);
  if (loud !== undefined && !rest.some((word) => isLoud(word, loud))) return undefined;
  if (byDefault.has(name) && isSummary(rest)) return undefined;
  const isKnown = verbs !== undefined || loud !== undefined || byDefault.has(name) || always.has(name);
  const { operands, paths } = operandsOf(name, rest);
  const isOpen =
    !isKnown ||
    // A setting of the command line may be an alias, or a place of another repository.
    before.some(
      ({ name: option }) => !/^(?:-C|--no-pager|-P|--no-optional-locks|--literal-pathspecs)$/.test(option),
    ) ||
    rest.some(({ text, kind }) => kind === "unknown" || opening.test(text)) ||
    [...operands, ...paths].some(({ text }) => /^:|[*?[\\]/.test(text));
  return {
    operands: operands.filter(({ text }) => !text.includes(":")),
    paths,
    inRevision: namedIn(rest),
    isOpen,
  };
}

/** They show names, sums, messages or nothing. What is in no list may show anything. */
const silent = new Set(
  `apply branch check-attr check-ignore check-mailmap check-ref-format cherry cherry-pick clean column commit-graph commit-tree
  config count-objects credential describe fetch fetch-pack for-each-ref fsck gc get-tar-commit-id hash-object help
  index-pack init interpret-trailers ls-files ls-remote ls-tree maintenance merge merge-base mktag mktree multi-pack-index mv
  name-rev notes pack-redundant pack-refs patch-id prune prune-packed pull push read-tree receive-pack remote repack replace
  rerere rev-list rev-parse revert rm send-pack shortlog show-branch show-ref sparse-checkout stripspace switch symbolic-ref
  tag update-index update-ref update-server-info var verify-commit verify-pack verify-tag version write-tree`.split(
    /\s+/,
  ),
);

/** Options that make one of these show contents; a long name may be cut short. */
const patches =
  "--patch --patch-with-raw --patch-with-stat --unified --word-diff --word-diff-regex --color-words --function-context --cc --dd --remerge-diff --binary --output-indicator-new --output-indicator-old --output-indicator-context --ext-diff --textconv --color-moved --anchored --find-object --pickaxe-all --pickaxe-regex --inter-hunk-context --submodule";
type Loud = { readonly letters: RegExp; readonly names: string };
const patching: Loud = { letters: /[pucULGSW]/, names: patches };
const withPatch: Readonly<Record<string, Loud>> = {
  log: patching,
  reflog: patching,
  "diff-tree": { letters: /[pucUGSW]/, names: patches },
  "diff-index": { letters: /[pucUGSW]/, names: patches },
  "diff-files": { letters: /[pucUGSW0-9]/, names: `${patches} --base --ours --theirs` },
  status: { letters: /v/, names: "--verbose" },
  commit: { letters: /[vp]/, names: "--verbose --patch --interactive" },
  add: { letters: /[pie]/, names: "--patch --interactive --edit" },
  checkout: { letters: /p/, names: "--patch" },
  restore: { letters: /p/, names: "--patch" },
  reset: { letters: /p/, names: "--patch" },
  am: { letters: /(?!)/, names: "--show-current-patch" },
  rebase: { letters: /(?!)/, names: "--show-current-patch" },
};

/** These show contents by their first word alone. */
const byVerb: Readonly<Record<string, RegExp>> = {
  stash: /^show$/,
  worktree: /^add$/,
  bundle: /^(?:create|unbundle)$/,
  submodule: /^(?:summary|foreach|add)$/,
  bisect: /^(?:view|visualize|run)$/,
};

/** These show a patch unless an option says what else. */
const byDefault = new Set(["diff", "show", "whatchanged"]);
/** A summary alone: no other form of output is asked for beside it. */
const isSummary = (rest: readonly Argument[]): boolean =>
  rest.some(({ kind, text }) => kind === "fixed" && summary.test(text)) &&
  !rest.some((word) => (word.kind === "fixed" && /^[^-]*:/.test(word.text)) || isLoud(word, patching));
const summary =
  /^(?:-s|--no-patch|--stat(?:=.*)?|--numstat|--shortstat|--dirstat(?:=.*)?|--name-only|--name-status|--summary|--raw|--compact-summary|--quiet)$/;

const always = new Set(
  "grep blame annotate cat-file archive format-patch range-diff difftool checkout-index fast-export clone merge-tree merge-file unpack-file pack-objects show-index".split(
    " ",
  ),
);

function isLoud({ kind, text }: Argument, { letters, names }: Loud): boolean {
  if (kind !== "fixed") return /^(?:-|$)/.test(text) || kind === "unknown";
  if (!text.startsWith("-") || text === "-" || text === "--") return false;
  if (!text.startsWith("--")) return !/^-n?\d+$/.test(text) && letters.test(text);
  const name = text.replace(/=[\s\S]*$/, "");
  return name !== "--color" && names.split(" ").some((loud) => loud.startsWith(name));
}

/** What is shown is another path's too, or stands in a file. */
const opening =
  /^--(?:fol|pathspec-from|no-index|stdin|batch|all-te|conten|textconv|filters|buffer|ot|ba|remote|exec|tool|ext)/;

/** Words that are no options, as far as that is sure; of a search the first is what it looks for. */
function operandsOf(
  name: string,
  rest: readonly Argument[],
): { operands: readonly Argument[]; paths: readonly Argument[] } {
  const end = rest.findIndex(({ text }) => text === "--");
  const before = end < 0 ? rest : rest.slice(0, end);
  const operands = before.filter(
    ({ prefix }, at) => !prefix.startsWith("-") && mayStandBefore.test(before[at - 1]?.text ?? ""),
  );
  const isSearch = name === "grep";
  const isPlain = before.every(({ prefix, text }) => !prefix.startsWith("-") || mayStandBefore.test(text));
  return {
    operands: !isSearch ? operands : isPlain ? operands.slice(1) : [],
    paths: end < 0 ? [] : rest.slice(end + 1),
  };
}

/** A word that takes no other as its value: no option, or one that is known to stand alone. */
const mayStandBefore =
  /^(?!-)|=|^-(?:[pucswbiahlnEFPvzHIo]|\d+)$|^--(?:patch|cached|staged|oneline|stat|numstat|color|no-color|graph|decorate|all|name-only|name-status|word-diff|no-ext-diff|no-textconv)$/;

/** `HEAD:a`, `:a`, `:0:a`, `-L 1,5:a`, `-L:name:a`. */
function namedIn(rest: readonly Argument[]): string[] {
  return rest.flatMap(({ kind, text }) => {
    if (kind !== "fixed" || text.startsWith("--") || !text.includes(":")) return [];
    // A path may hold a colon too.
    const names = [text.slice(text.indexOf(":") + 1), text.slice(text.lastIndexOf(":") + 1)];
    return [...new Set(names)].filter((path) => path !== "");
  });
}
