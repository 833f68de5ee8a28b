/**
 * What a rule about git does not cover, since whoever wrote it did not see it: options that name a program or write
 * outside, from the manual pages of each subcommand; settings that name programs; words that may be aliases.
 */
import { own } from "../../kernel/json.ts";
import type { Argument } from "../meaning/arguments.ts";
import { harmlessGlobals } from "./git.ts";
import { configWrite } from "./git-config-write.ts";
import { gitWords } from "./git-words.ts";
import { isHelperAddress } from "./git-writes.ts";
import { isOption } from "./option-names.ts";
import { valuesOf } from "./option-programs.ts";

export const hazardousGit = (words: readonly Argument[], seen: number): boolean => {
  const { before, subcommand, rest } = gitWords(words);
  if (before.some(({ name }) => !harmlessGlobals.has(name))) return true;
  const name = subcommand?.text ?? "";
  const isNamed = subcommand !== undefined && words.indexOf(subcommand) < seen;
  if (!isNamed && !gitCommands.has(name) && !/^--?(?:version|v)$/.test(words[0]?.text ?? "")) return true;
  if (rest.some(({ text }) => isHelperAddress(text))) return true;
  // A setting that names a program runs it with the next command, and one that names a place leads there.
  if (name === "config") return (configWrite(rest)?.kind ?? "harmless") !== "harmless";
  if (
    valuesOf(rest, "-s", "--strategy").some((value) => strategies.test(name) && !knownStrategies.test(value))
  )
    return true;
  const short = own(gitShort, name);
  return rest.some(
    ({ text }) => (short?.test(text) ?? false) || gitLong.some((option) => isOption(text, option)),
  );
};

const gitLong =
  "--config --config-env --upload-pack --receive-pack --exec --exec-path --open-files-in-pager --ext-diff --textconv --extcmd --template --no-index --setup --env-filter --tree-filter --index-filter --msg-filter --commit-filter --tag-name-filter --parent-filter --filters --trailer --unsafe-paths".split(
    " ",
  );
const gitShort: Readonly<Record<string, RegExp>> = {
  grep: /^-[a-zA-Z]*O/,
  rebase: /^-[a-zA-Z]*x/,
  difftool: /^-x/,
  clone: /^-[uc]/,
  "send-email": /^--(?:smtp-server|sendmail-cmd|to-cmd|cc-cmd|header-cmd)/,
};

/** A strategy of another name is a program `git-merge-…`. */
const strategies = /^(?:merge|pull|rebase|cherry-pick|revert)$/;
const knownStrategies = /^(?:ort|recursive|resolve|octopus|ours|theirs|subtree)$/;

/** Other words may be aliases, which run what a setting says, or programs of their own. */
const gitCommands = new Set(
  "add am apply archive bisect blame branch bundle cat-file check-attr check-ignore check-mailmap check-ref-format checkout checkout-index cherry cherry-pick clean clone commit commit-graph commit-tree config count-objects describe diff diff-files diff-index diff-tree fast-export fetch for-each-ref format-patch fsck gc grep hash-object init log ls-files ls-remote ls-tree merge merge-base merge-file merge-tree mktag mktree mv name-rev notes pack-refs patch-id prune pull push range-diff read-tree rebase reflog remote repack replace rerere reset restore rev-list rev-parse revert rm shortlog show show-branch show-ref sparse-checkout stash status stripspace submodule switch symbolic-ref tag update-index update-ref verify-commit verify-pack verify-tag version whatchanged worktree write-tree".split(
    " ",
  ),
);
