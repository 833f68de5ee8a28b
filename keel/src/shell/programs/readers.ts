/**
 * Programs that only read, each with the options that are known to keep it so. What is not listed is asked about: the
 * option that a new version adds as much as the one that runs a program.
 */

import { own } from "../../kernel/json.ts";
import {
  bashBuiltin,
  coreutils,
  nothingBy,
  procps,
  type ReadOnlyProgram,
  rowOf,
  utilLinux,
} from "./reader.ts";
import { textReaders } from "./text-readers.ts";
import { versionReaders } from "./version-readers.ts";

export const readerOf = (program: string): ReadOnlyProgram | undefined =>
  own(textReaders, program) ?? own(systemReaders, program) ?? own(versionReaders, program);

/** These say something about the machine or about themselves; others name files. */
const says = rowOf("none", coreutils);
const names = rowOf("names", coreutils, { isOpen: true });
/** Its operands are plain words; where it `takesText`, none of its options does harm. */
const takes = rowOf("text", coreutils);
const takesText = rowOf("text", coreutils, { isOpen: true });
const zips = nothingBy("unzip(1), zipinfo(1): options only from UNZIP and ZIPINFO");
const fd: ReadOnlyProgram = {
  options:
    "-H -I -u -s -i -g -F -a -p -0 -d: -t: -e: -E: -S: -1 -q -c: -j: -V -h --hidden --no-ignore --no-ignore-vcs --no-ignore-parent --unrestricted --case-sensitive --ignore-case --glob --regex --fixed-strings --absolute-path --full-path --print0 --max-depth: --min-depth: --exact-depth: --type: --extension: --exclude: --size: --changed-within: --changed-before: --max-results: --quiet --color: --threads: --and: --prune --one-file-system --strip-cwd-prefix? --path-separator: --help --version",
  operands: "names",
  obeys: nothingBy("fd(1): .ignore and .fdignore only leave names out"),
  first: { count: 1, unless: [] },
};
// Not `-L`: with `-R` it lists what links lead to.
const ls = names(
  `-1 -a -A -b -B -c -C -d -D -f -F -g -G -h -H -i -I: -k -l -m -n -N -o -p -q -Q -r -R -s -S -t -T: -u -U -v -w: -x -X -Z
    --all --almost-all --author --escape --block-size: --ignore-backups --color? --directory --dired --classify? --file-type
    --format: --full-time --group-directories-first --no-group --human-readable --si --dereference-command-line
    --dereference-command-line-symlink-to-dir --hide: --hyperlink? --indicator-style: --inode --ignore: --kibibytes
    --numeric-uid-gid --literal --hide-control-chars --show-control-chars --quote-name --quoting-style: --reverse --recursive
    --size --sort: --time: --time-style: --tabsize: --width: --context --zero`,
);

const systemReaders: Readonly<Record<string, ReadOnlyProgram>> = {
  ls,
  dir: ls,
  vdir: ls,
  pwd: says("-L -P --logical --physical"),
  stat: names("-L -f -c: -t --dereference --file-system --format: --printf: --terse --cached:"),
  // Not `-C`, `-m`, `-f`, `-p` and `-z`.
  file: rowOf("contents", coreutils)(
    "-b -c -d -E -F: -h -i -k -L -N -n -r -s -S -v -0 --brief --checking-printout --dereference --no-dereference --extension --mime --mime-type --mime-encoding --keep-going --separator: --no-pad --raw --print0 --apple",
    {
      obeys: { variables: ["MAGIC"], source: "file(1): ~/.magic and MAGIC describe files, and run nothing" },
    },
  ),
  // Not `-L`, here and below: links lead anywhere.
  du: names(
    "-0 -a -b -B: -c -D -d: -h -H -k -l -m -P -S -s -t: -x -X< --null --all --apparent-size --block-size: --bytes --total --dereference-args --max-depth: --human-readable --inodes --count-links --no-dereference --separate-dirs --si --summarize --threshold: --time? --time-style: --exclude-from< --exclude: --one-file-system",
  ),
  df: names(
    "-a -B: -h -H -i -k -l -P -t: -T -x: -v --all --block-size: --human-readable --si --inodes --local --no-sync --output? --portability --total --type: --print-type --exclude-type:",
  ),
  // Not `-l`, `-o` and `-R`.
  tree: {
    options:
      "-a -d -f -x -L: -P: -I: -p -u -g -s -h -D -F -q -N -Q -r -t -c -U -v -i -A -S -n -C -J -X --gitignore --gitfile< --ignore-case --matchdirs --metafirst --prune --info --noreport --charset: --filelimit: --si --du --timefmt: --inodes --device --dirsfirst --filesfirst --sort: --nolinks --help --version",
    operands: "names",
    obeys: nothingBy("tree(1): .gitignore leaves names out, .info adds text"),
  },
  // Not `-x`, `-X` and `-l`.
  fd,
  fdfind: fd,
  basename: takesText("-a -s: -z --multiple --suffix: --zero"),
  dirname: takesText("-z --zero"),
  realpath: names(
    "-e -m -L -P -q -s -z --canonicalize-existing --canonicalize-missing --logical --physical --quiet --strip --no-symlinks --zero --relative-to< --relative-base<",
  ),
  readlink: names(
    "-f -e -m -n -q -s -v -z --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --quiet --silent --verbose --zero",
  ),
  which: {
    options: "-a -s --all --skip-alias --version",
    operands: "text",
    obeys: nothingBy("which(1)"),
    isOpen: true,
  },
  type: { options: "-a -f -t -p -P", operands: "text", obeys: bashBuiltin, isOpen: true },
  seq: takes("-f: -s: -w --format: --separator: --equal-width"),
  uname: says(
    "-a -s -n -r -v -m -p -i -o --all --kernel-name --nodename --kernel-release --kernel-version --machine --processor --hardware-platform --operating-system",
  ),
  arch: says(),
  whoami: says(),
  logname: says(),
  // Any operand sets the name, and most options look it up.
  hostname: { options: "-s --short -V", operands: "none", obeys: nothingBy("hostname(1)") },
  id: takes("-a -Z -g -G -n -r -u -z --context --group --groups --name --real --user --zero", { most: 1 }),
  groups: takes("", { most: 1 }),
  nproc: says("--all --ignore:"),
  uptime: says("-p -s -h -V --pretty --since", { obeys: procps }),
  free: says(
    "-b -k -m -g -h -w -t -l -V --bytes --kilo --mega --giga --tera --kibi --mebi --gibi --human --wide --total --lohi --si",
    { obeys: procps },
  ),
  tty: says("-s --silent --quiet"),
  cal: { options: "-1 -3 -s -m -j -y -w -h -V", operands: "text", obeys: utilLinux, most: 3 },
  getconf: { options: "-a", operands: "text", obeys: nothingBy("getconf(1)"), most: 1 },
  lscpu: says("-a -b -c -J -e? -p? --all --online --offline --json --extended? --parse?", {
    obeys: utilLinux,
  }),
  expr: takesText(),
  factor: takesText(),
  unzip: {
    options: "-l -v -Z -1 -q -qq -h",
    operands: "contents",
    obeys: zips,
    most: 1,
    needs: ["-l", "-v", "-Z"],
  },
  zipinfo: { options: "-1 -2 -s -m -l -v -h -t -T -z", operands: "contents", obeys: zips, most: 1 },
};
