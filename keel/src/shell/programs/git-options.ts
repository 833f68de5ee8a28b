/** The subcommands of git that only read, with the options that keep them so. */

const diff = `-p -u -s -U: -B? -M? -C? -D -l: -S: -G: -R -a -b -w -W -z -r -t -c -m -X?
  --patch --no-patch --unified: --raw --patch-with-raw --indent-heuristic --no-indent-heuristic --minimal --patience --histogram
  --anchored: --diff-algorithm: --stat? --compact-summary --numstat --shortstat --dirstat? --cumulative --dirstat-by-file?
  --summary --patch-with-stat --name-only --name-status --submodule? --color? --no-color --color-moved? --no-color-moved
  --color-moved-ws: --word-diff? --word-diff-regex: --color-words? --no-renames --rename-empty --no-rename-empty --check
  --ws-error-highlight: --full-index --binary --abbrev? --no-abbrev --break-rewrites? --find-renames? --find-copies?
  --find-copies-harder --irreversible-delete --diff-filter: --find-object: --pickaxe-all --pickaxe-regex --skip-to:
  --rotate-to: --relative? --no-relative --text --ignore-cr-at-eol --ignore-space-at-eol --ignore-space-change
  --ignore-all-space --ignore-blank-lines --ignore-matching-lines: --inter-hunk-context: --function-context --exit-code
  --quiet --no-ext-diff --no-textconv --ignore-submodules? --src-prefix: --dst-prefix: --no-prefix --default-prefix
  --line-prefix: --ita-invisible-in-index --cc --combined-all-paths`;

const revisions = `-n: -# -i -E -F -P -g --max-count: --skip: --since: --since-as-filter: --after: --until: --before: --author: --committer:
  --grep: --grep-reflog: --all-match --invert-grep --regexp-ignore-case --basic-regexp --extended-regexp --fixed-strings
  --perl-regexp --remove-empty --merges --no-merges --min-parents: --max-parents: --no-min-parents --no-max-parents
  --first-parent --exclude-first-parent-only --not --all --branches? --tags? --remotes? --glob: --exclude: --reflog
  --cherry --cherry-pick --cherry-mark --left-right --left-only --right-only --boundary --simplify-by-decoration
  --full-history --dense --sparse --simplify-merges --ancestry-path? --show-pulls --date-order --author-date-order
  --topo-order --reverse --no-walk? --do-walk --walk-reflogs --merge --date: --relative-date --parents --children`;

const log = `${diff} ${revisions} -L: --oneline --format: --pretty? --abbrev-commit --no-abbrev-commit --graph --no-graph
  --decorate? --no-decorate --decorate-refs: --decorate-refs-exclude: --clear-decorations --follow --source --mailmap
  --no-mailmap --use-mailmap --log-size --notes? --no-notes --show-notes? --encoding: --expand-tabs? --no-expand-tabs
  --show-linear-break? --full-diff --no-commit-id --root --always`;

const refs =
  "--sort: --format: --points-at: --merged? --no-merged? --contains? --no-contains? --ignore-case --color? --no-color --column? --no-column";

const blame =
  "-L: -l -s -e -f -n -p -w -b -c -t -k -M? -C? --since: --date: --porcelain --line-porcelain --incremental --show-stats --show-name --show-number --show-email --root --reverse --score-debug --color-lines --color-by-age --ignore-rev: --abbrev: --minimal --first-parent --progress --no-progress";

export type GitReader = {
  readonly options: string;
  /** Operands are allowed only with one of these: otherwise they are names of something new. */
  readonly operandsNeed?: readonly string[];
  readonly most?: number;
  /** The first operand must be one of these words, or there must be none where "" is listed. */
  readonly first?: readonly string[];
};

/** A row that is nothing but options is a text. */
export const gitReaders: Readonly<Record<string, GitReader | string>> = {
  status:
    "-s -b -v -u? -z --short --branch --show-stash --porcelain? --long --verbose --untracked-files? --ignore-submodules? --ignored? --column? --no-column --ahead-behind --no-ahead-behind --renames --no-renames --find-renames?",
  diff: `${diff} --cached --staged --merge-base -1 -2 -3 -0 --base --ours --theirs`,
  log: log,
  show: log,
  whatchanged: log,
  "diff-tree": `${log} --stdin -v`,
  "diff-index": `${diff} --cached --merge-base`,
  "diff-files": `${diff} -q -0 -1 -2 -3`,
  "range-diff": `${diff} --creation-factor: --no-dual-color --dual-color --left-only --right-only`,
  "rev-list": `${log} --count --objects --header --timestamp --quiet --disk-usage? --no-object-names --no-commit-header`,
  "rev-parse":
    "-q --quiet --verify --short? --abbrev-ref? --symbolic --symbolic-full-name --all --branches? --tags? --remotes? --glob: --exclude: --disambiguate: --git-dir --git-common-dir --absolute-git-dir --is-inside-git-dir --is-inside-work-tree --is-bare-repository --is-shallow-repository --show-toplevel --show-superproject-working-tree --show-prefix --show-cdup --show-object-format? --git-path: --path-format: --revs-only --no-revs --flags --no-flags --not --since: --until: --after: --before: --local-env-vars",
  blame: blame,
  annotate: blame,
  branch: {
    options: `-a -r -v -l -i --list --all --remotes --verbose --show-current --abbrev: --no-abbrev ${refs}`,
    operandsNeed: ["--list", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at"],
  },
  tag: {
    options: `-l -n? -i --list ${refs}`,
    operandsNeed: [
      "--list",
      "-l",
      "-n",
      "--contains",
      "--no-contains",
      "--merged",
      "--no-merged",
      "--points-at",
    ],
  },
  remote: { options: "-v --verbose --all --push", first: ["", "get-url"] },
  stash: { options: log, first: ["list", "show"] },
  worktree: { options: "-v -z --porcelain --verbose", first: ["list"] },
  submodule: { options: "--recursive --cached --quiet -q", first: ["", "status"] },
  notes: { options: "", first: ["list", "show"] },
  reflog: { options: log, first: ["", "show", "exists"] },
  "sparse-checkout": { options: "", first: ["list"] },
  "ls-files":
    "-c -d -m -o -i -s -u -k -t -v -f -z -x: -X< --cached --deleted --modified --others --ignored --stage --unmerged --killed --directory --no-empty-directory --eol --deduplicate --exclude: --exclude-from< --exclude-per-directory: --exclude-standard --error-unmatch --full-name --recurse-submodules --abbrev? --debug --format: --with-tree: --sparse",
  "ls-tree":
    "-d -r -t -l -z --long --name-only --name-status --object-only --full-name --full-tree --abbrev? --format:",
  "cat-file": { options: "-p -t -s -e", most: 2 },
  describe:
    "--tags --all --long --abbrev: --always --dirty? --broken? --candidates: --exact-match --debug --match: --exclude: --first-parent --contains",
  shortlog: `${revisions} -s -n -e -c -w? --summary --numbered --email --group: --format: --committer`,
  "for-each-ref": `--count: --exclude: --shell --perl --python --tcl --omit-empty --include-root-refs --stdin ${refs}`,
  "show-ref":
    "-d -s? -q --heads --branches --tags --head --verify --dereference --hash? --abbrev? --quiet --exists",
  "show-branch":
    "-a -r -g? --all --remotes --list --current --topo-order --date-order --sparse --more: --independent --merge-base --no-name --sha1-name --topics --color? --no-color",
  "merge-base": "-a --all --octopus --is-ancestor --independent --fork-point",
  "name-rev": "--tags --refs: --exclude: --all --name-only --no-undefined --always",
  "symbolic-ref": { options: "-q --quiet --short --recurse --no-recurse", most: 1 },
  "count-objects": "-v -H --verbose --human-readable",
  "check-ignore": "-q -v -z -n --quiet --verbose --non-matching --no-index --stdin",
  "check-attr": "-a -z --all --cached --stdin --source:",
  "check-ref-format": "--branch --normalize --allow-onelevel",
  cherry: "-v --abbrev?",
  version: "--build-options",
  grep: "-n -i -I -l -L -c -w -v -e: -f< -E -G -F -P -h -H -q -p -W -A: -B: -C: -o -r -m: -z -a -# --untracked --cached --exclude-standard --no-exclude-standard --recurse-submodules --max-depth: --line-number --column --name-only --files-with-matches --files-without-match --count --ignore-case --word-regexp --invert-match --heading --break --show-function --context: --after-context: --before-context: --function-context --threads: --max-count: --and --or --not --all-match --quiet --only-matching --color? --no-color --full-name --null --text --extended-regexp --basic-regexp --fixed-strings --perl-regexp --recursive --no-recursive",
  config:
    "--get --get-all --local --global --system --worktree --type: --bool --int --bool-or-int --path --null -z --show-origin --show-scope --includes --no-includes --name-only --default:",
};
