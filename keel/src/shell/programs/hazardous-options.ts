/** Options that run programs, read options from files or load code, of programs that rules often allow. */
import { own } from "../../kernel/own.ts";
import { type Argument, withText } from "../meaning/arguments.ts";
import { readOptions } from "../meaning/options.ts";
import { readAwkScript } from "./awk-script.ts";
import { findWords, onlyLooks } from "./find-tests.ts";
import { harmlessGlobals } from "./git.ts";
import { gitWords } from "./git-words.ts";
import { valuesOf } from "./option-programs.ts";
import { readerOf } from "./readers.ts";
import { readSedScript } from "./sed-script.ts";

/** `seen` is how many of the words the rule names. */
export function hazardousOption(program: string, words: readonly Argument[], seen: number): boolean {
  const unseen = words.slice(Math.max(0, seen));
  // What the run finds may turn out to be an option.
  const check = own(checks, program);
  if (check && unseen.some(({ kind, prefix }) => kind === "glob" && prefix === "")) return true;
  if (check) return check(words, seen);
  const running = own(runningWords, program);
  if (running && anyWord(running)(words, seen)) return true;
  const names = own(dangerous, program)?.split(" ") ?? [];
  // What stands behind two dashes is no option of the program itself.
  const end = unseen.findIndex(({ text }) => text === "--");
  return (end < 0 ? unseen : unseen.slice(0, end)).some(({ text }) =>
    names.some((name) => isOption(text, name)),
  );
}

/** Whole, attached, or cut short. */
function isOption(text: string, name: string): boolean {
  if (text === name) return true;
  if (!name.startsWith("--"))
    return name.length === 2
      ? /^-[A-Za-z]+/.test(text) && !text.startsWith("--") && text.includes(name[1] ?? "\0")
      : text.startsWith(`${name}=`);
  const given = text.split("=", 1)[0] ?? "";
  return given.length > 3 && given.startsWith("--") && name.startsWith(given);
}

const unknownOption =
  (program: string, extra = "") =>
  (words: readonly Argument[]): boolean =>
    typeof readOptions(words, `${readerOf(program)?.options ?? ""} ${extra}`) === "string";

const sed = (words: readonly Argument[]): boolean => {
  const read = readOptions(
    words,
    "-n -E -r -s -u -z -l: -e: -i? --quiet --silent --regexp-extended --separate --unbuffered --null-data --line-length: --expression: --in-place? --posix --sandbox --debug",
  );
  if (typeof read === "string") return true;
  const given = valuesOf(words, "-e", "--expression");
  const scripts = given.length > 0 ? given : [read.operands[0]?.text ?? ""];
  return !readSedScript(scripts.join("\n")).isPlain || words.some(({ kind }) => kind === "unknown");
};

const awk = (words: readonly Argument[]): boolean => {
  const read = readOptions(words, "-F: -v: --field-separator: --assign: --posix --traditional");
  return typeof read === "string" || !readAwkScript(read.operands[0]?.text ?? "").isPlain;
};

const find = (words: readonly Argument[]): boolean => typeof onlyLooks(findWords(words).rest) === "string";

const tarLetters = /^-?[cxtruvzjJZpkmhOwWSlaf]+$/;
const tar = (words: readonly Argument[]): boolean => {
  const [first, ...rest] = words;
  const given =
    first && /^[a-zA-Z]+$/.test(first.text) && tarLetters.test(first.text)
      ? [withText(first, `-${first.text}`), ...rest]
      : words;
  const read = readOptions(
    given,
    "-c -x -t -r -u -f: -v -z -j -J -Z -C: -p -k -m -h -O -w -W -S -a --create --extract --get --list --append --update --file: --verbose --gzip --bzip2 --xz --zstd --lzma --compress --directory: --exclude: --exclude-vcs --exclude-vcs-ignores --strip-components: --preserve-permissions --keep-old-files --touch --dereference --to-stdout --wildcards --no-recursion --numeric-owner --owner: --group: --mode: --mtime: --sort: --auto-compress --no-same-owner --overwrite --one-file-system --totals",
  );
  if (typeof read === "string") return true;
  // A colon makes it the archive of another machine.
  return read.given.some(({ name, value }) => /^(?:-f|--file)$/.test(name) && value?.text.includes(":"));
};

const gitLong =
  "--config --config-env --upload-pack --receive-pack --exec --open-files-in-pager --ext-diff --textconv --extcmd --template --no-index --setup --env-filter --tree-filter --index-filter --msg-filter --commit-filter --tag-name-filter --parent-filter --filters --smtp-server --sendmail-cmd".split(
    " ",
  );
const gitShort: Readonly<Record<string, RegExp>> = {
  grep: /^-[a-zA-Z]*O/,
  rebase: /^-[a-zA-Z]*x/,
  difftool: /^-x/,
  clone: /^-[uc]/,
};
const programKeys =
  /^(?:alias\.|core\.(?:pager|editor|fsmonitor|sshcommand|askpass|gitproxy|hookspath|alternaterefscommand|worktree|attributesfile)|pager\.|sequence\.editor|include|includeif\.|diff\.|difftool\.|merge|mergetool\.|filter\.|credential|gpg|browser\.|man\.|remote\..*\.(?:uploadpack|receivepack|proxy|vcs)|url\.|protocol\.|init\.templatedir|uploadpack\.|receive\.)/i;

/** Other words may be aliases, which run what a setting says, or programs of their own. */
const gitCommands = new Set(
  "add am apply archive bisect blame branch bundle cat-file check-attr check-ignore check-mailmap check-ref-format checkout checkout-index cherry cherry-pick clean clone commit commit-graph commit-tree config count-objects describe diff diff-files diff-index diff-tree fast-export fetch for-each-ref format-patch fsck gc grep hash-object init log ls-files ls-remote ls-tree merge merge-base merge-file merge-tree mktag mktree mv name-rev notes pack-refs patch-id prune pull push range-diff read-tree rebase reflog remote repack replace rerere reset restore rev-list rev-parse revert rm shortlog show show-branch show-ref sparse-checkout stash status stripspace submodule switch symbolic-ref tag update-index update-ref verify-commit verify-pack verify-tag version whatchanged worktree write-tree".split(
    " ",
  ),
);

const git = (words: readonly Argument[], seen: number): boolean => {
  const { before, subcommand, rest } = gitWords(words);
  if (before.some(({ name }) => !harmlessGlobals.has(name))) return true;
  const name = subcommand?.text ?? "";
  const isNamed = subcommand !== undefined && words.indexOf(subcommand) < seen;
  if (!isNamed && !gitCommands.has(name) && !/^--?(?:version|v)$/.test(words[0]?.text ?? "")) return true;
  // `ext::…` is a command line; other words before `::` name programs as well.
  if (rest.some(({ text }) => /^[\w-]+::/.test(text))) return true;
  // A setting that names a program runs it with the next command.
  if (name === "config")
    return (
      rest.filter(({ text }) => !text.startsWith("-")).length > 1 &&
      rest.some(({ text }) => programKeys.test(text) || /^(?:edit|-e|--edit)$/.test(text))
    );
  const short = own(gitShort, name);
  return rest.some(
    ({ text }) => (short?.test(text) ?? false) || gitLong.some((option) => isOption(text, option)),
  );
};

/** Variables of make that are programs, or options of make itself. */
const make = (words: readonly Argument[], seen: number): boolean =>
  words
    .slice(Math.max(0, seen))
    .some(
      ({ text }) =>
        /^(?:\.?SHELL\w*|MAKE\w*|GNUMAKEFLAGS|[A-Z]*(?:CC|CXX|CPP|LD|AR|AS|FC|RM|NM|RANLIB|STRIP|LINK|INSTALL|PYTHON|NODE|NPM|GO|CARGO|LAUNCHER|WRAPPER))[:+?]?=/.test(
          text,
        ) || "--eval -f --file --makefile -C --directory -I".split(" ").some((name) => isOption(text, name)),
    );

/** Any of these words, wherever it stands behind what the rule names. */
const anyWord =
  (pattern: RegExp) =>
  (words: readonly Argument[], seen: number): boolean =>
    words.slice(Math.max(0, seen)).some(({ text }) => pattern.test(text));

/** Words of these programs that are commands of theirs to run something, or to change what they run. */
const runningWords: Readonly<Record<string, RegExp>> = {
  less: /^\+/,
  more: /^\+/,
  view: /^\+/,
  vim: /^\+/,
  vi: /^\+/,
  nvim: /^\+/,
  ex: /^\+/,
  npm: /^(?:config|set|c|explore|edit|init|create|innit)$/,
  gh: /^(?:alias|config|extension|extensions|ext)$/,
  sqlite3: /^\s*\.|load_extension|writefile|\battach\b/i,
  nc: /^-[a-zA-Z]*[ec]|^--(?:sh-|lua-)?exec/,
  ncat: /^-[a-zA-Z]*[ec]|^--(?:sh-|lua-)?exec/,
  netcat: /^-[a-zA-Z]*[ec]/,
  socat: /^(?:exec|system|shell)(?:[:,]|$)/i,
  openssl: /^-{1,2}(?:engine|provider|provider-path|config)$/,
  ip: /^(?:exec|-b|-batch|--batch)$/,
  tmux: /^(?:new|neww|split|send|run|if|pipe|respawn|source|set-hook|bind|display-popup|popup|command-prompt|confirm)/,
  screen: /^-[a-zA-Z]*[XS]|^-dm|^\/|^[a-z]/,
  dpkg: /^--(?:pre|post)-invoke|^--(?:root|admindir|instdir|path-include)/,
  nmap: /^--(?:script|datadir|servicedb|versiondb)|^-o[A-Z]/,
  kubectl: /^--kubeconfig/,
  docker:
    /^--(?:privileged|mount|pid|ipc|uts|net|network|cap-add|device|security-opt|volumes-from|userns|cgroup-parent|host|config|context|volume)(?:=|$)|^-(?:v|H)/,
  podman:
    /^--(?:privileged|mount|pid|ipc|uts|net|network|cap-add|device|security-opt|volumes-from|userns|volume)(?:=|$)|^-v/,
  convert: /^(?:msl|ephemeral|url|https?|ftp|text|label|caption):|^@/i,
  magick: /^(?:msl|ephemeral|url|https?|ftp|text|label|caption):|^@/i,
  gcc: /^@/,
  "g++": /^@/,
  cc: /^@/,
  clang: /^@/,
  "clang++": /^@/,
  ld: /^@/,
  javac: /^(?:@|-J|-processor|-Xplugin)/,
  go: /^--?(?:exec|toolexec|vettool|overlay|modfile|C|buildmode)(?:=|$)|extld|toolexec/,
};

const checks: Readonly<Record<string, (words: readonly Argument[], seen: number) => boolean>> = {
  sed,
  gsed: sed,
  awk,
  gawk: awk,
  mawk: awk,
  nawk: awk,
  find,
  tar,
  gtar: tar,
  git,
  sort: unknownOption("sort", "-o: --output:"),
  rg: unknownOption("rg", "-L --follow"),
  fd: unknownOption("fd", "-L --follow"),
  fdfind: unknownOption("fdfind", "-L --follow"),
  file: unknownOption("file"),
  tree: unknownOption("tree", "-o:"),
  make,
  gmake: make,
};

const dangerous: Readonly<Record<string, string>> = {
  curl: "-K --config --engine --libcurl --proto-redir",
  wget: "-e --execute --config --use-askpass --use-server-timestamps-off -i --input-file",
  zip: "-T -TT --test --unzip-command",
  man: "-P --pager -H --html --preprocessor -p -C --config-file -M --manpath",
  less: "-k --lesskey-file --lesskey-src --lesskey-content -o -O --log-file --LOG-FILE",
  rsync: "-e --rsh --rsync-path --files-from --log-file --write-batch --daemon --config",
  ssh: "-o -F -E -S -W -L -R -D -w -J -I",
  scp: "-o -F -S -J -i",
  sftp: "-o -F -S -D -s -b",
  split: "--filter",
  vim: "-c --cmd -S -s -u -U -W -w --startuptime",
  vi: "-c --cmd -S -s -u",
  nvim: "-c --cmd -S -s -u -l --listen --server",
  ex: "-c --cmd -S -s",
  npm: "--script-shell --shell --node-options --ignore-scripts-off -c --call --prefix --userconfig --globalconfig -C",
  pnpm: "--script-shell --shell-mode --node-options --config -C --dir",
  yarn: "--script-shell --cwd --use-yarnrc --node-options",
  cargo: "--config -Z --manifest-path -C",
  go: "-exec -toolexec -overlay -modfile -C -vettool -buildmode",
  gcc: "-wrapper -fplugin -B -specs",
  "g++": "-wrapper -fplugin -B -specs",
  clang: "-fplugin -Xclang -B",
  jq: "-f --from-file -L --library-path",
  pytest: "-p -c --rootdir --confcutdir -o --override-ini --cov-config",
  eslint: "-c --config --rulesdir --plugin --resolve-plugins-relative-to -f --format --parser",
  prettier: "--plugin --plugin-search-dir --config",
  docker: "--url",
  vimdiff: "-c --cmd -S -s -u",
  psql: "-c -f --command --file -v --set",
  crontab: "-",
};
