/**
 * Programs that only read, each with the options that are known to keep it so. What is not listed is asked about: the
 * option that a new version adds as much as the one that runs a program.
 */

import { own } from "../../kernel/own.ts";
import { type ReadOnlyProgram, rowOf } from "./reader.ts";
import { textReaders } from "./text-readers.ts";

export const readerOf = (program: string): ReadOnlyProgram | undefined =>
  own(textReaders, program) ?? own(systemReaders, program);

/** These say something about the machine or about themselves; others name files. */
const says = rowOf("none");
const names = rowOf("names", { isOpen: true });
/** Its operands are plain words; where it `takesText`, none of its options does harm. */
const takes = rowOf("text");
const takesText = rowOf("text", { isOpen: true });
/** Without an option these run code. */
const sayingVersion = (options: string, programs: string): Record<string, ReadOnlyProgram> =>
  Object.fromEntries(
    programs.split(" ").map((name) => [name, { options, operands: "none", needs: options.split(" ") }]),
  );
const fd: ReadOnlyProgram = {
  options:
    "-H -I -u -s -i -g -F -a -p -0 -d: -t: -e: -E: -S: -1 -q -c: -j: -V -h --hidden --no-ignore --no-ignore-vcs --no-ignore-parent --unrestricted --case-sensitive --ignore-case --glob --regex --fixed-strings --absolute-path --full-path --print0 --max-depth: --min-depth: --exact-depth: --type: --extension: --exclude: --size: --changed-within: --changed-before: --max-results: --quiet --color: --threads: --and: --prune --one-file-system --strip-cwd-prefix? --path-separator: --help --version",
  operands: "names",
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
  file: rowOf("contents")(
    "-b -c -d -E -F: -h -i -k -L -N -n -r -s -S -v -0 --brief --checking-printout --dereference --no-dereference --extension --mime --mime-type --mime-encoding --keep-going --separator: --no-pad --raw --print0 --apple",
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
  which: { options: "-a -s --all --skip-alias --version", operands: "text", isOpen: true },
  type: { options: "-a -f -t -p -P", operands: "text", isOpen: true },
  seq: takes("-f: -s: -w --format: --separator: --equal-width"),
  uname: says(
    "-a -s -n -r -v -m -p -i -o --all --kernel-name --nodename --kernel-release --kernel-version --machine --processor --hardware-platform --operating-system",
  ),
  arch: says(),
  whoami: says(),
  logname: says(),
  // Any operand sets the name, and most options look it up.
  hostname: { options: "-s --short -V", operands: "none" },
  id: takes("-a -Z -g -G -n -r -u -z --context --group --groups --name --real --user --zero", { most: 1 }),
  groups: takes("", { most: 1 }),
  nproc: says("--all --ignore:"),
  uptime: says("-p -s -h -V --pretty --since"),
  free: says(
    "-b -k -m -g -h -w -t -l -V --bytes --kilo --mega --giga --tera --kibi --mebi --gibi --human --wide --total --lohi --si",
  ),
  tty: says("-s --silent --quiet"),
  cal: { options: "-1 -3 -s -m -j -y -w -h -V", operands: "text", most: 3 },
  getconf: { options: "-a", operands: "text", most: 1 },
  lscpu: says("-a -b -c -J -e? -p? --all --online --offline --json --extended? --parse?"),
  expr: takesText(),
  factor: takesText(),
  unzip: { options: "-l -v -Z -1 -q -qq -h", operands: "contents", most: 1, needs: ["-l", "-v", "-Z"] },
  zipinfo: { options: "-1 -2 -s -m -l -v -h -t -T -z", operands: "contents", most: 1 },
  ...sayingVersion("--version -v", "node npm yarn pnpm bun tsc ruby perl php make"),
  ...sayingVersion("--version -V", "deno python python2 python3 pip pip3 rustc cargo"),
  ...sayingVersion("-version --version", "java javac"),
  ...sayingVersion("--version", "gcc g++ cc clang cmake bash zsh"),
};
