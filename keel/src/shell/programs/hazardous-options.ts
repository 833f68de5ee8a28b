/** Options that run programs, read options from files or load code, of programs that rules often allow. */
import { own } from "../../kernel/json.ts";
import { type Argument, withText } from "../meaning/arguments.ts";
import { readOptions } from "../meaning/options.ts";
import { readAwkScript } from "./awk-script.ts";
import { findWords, onlyLooks } from "./find-tests.ts";
import { hazardousGit } from "./git-hazards.ts";
import { isOption } from "./option-names.ts";
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
  // Since curl 8.3 it makes any option of a variable, which may come from a file.
  curl: /^--expand-/,
  less: /^\+/,
  more: /^\+/,
  view: /^\+/,
  vim: /^\+/,
  vi: /^\+/,
  nvim: /^\+/,
  ex: /^\+/,
  npm: /^(?:config|set|c|explore|edit|init|create|innit)$/,
  gh: /^(?:alias|config|extension|extensions|ext)$/,
  sqlite3: /^\s*\.|load_extension|writefile|\battach\b|\binto\b|\bedit\s*\(/i,
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
  git: hazardousGit,
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
  wget: "-e --execute --config --use-askpass --use-server-timestamps-off -i --input-file --rejected-log",
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
