/** Programs that name files, and programs that say something about the machine or about themselves. */
import type { ReadOnlyProgram } from "./reader.ts";

const version = "--help --version";
const none: ReadOnlyProgram = { options: version, operands: "none" };
/** Without an option these run code. */
const saysVersion = (options: string): ReadOnlyProgram => ({
  options,
  operands: "none",
  needs: options.split(" "),
});
const fd: ReadOnlyProgram = {
  options:
    "-H -I -u -s -i -g -F -a -p -0 -d: -t: -e: -E: -S: -1 -q -c: -j: -V -h --hidden --no-ignore --no-ignore-vcs --no-ignore-parent --unrestricted --case-sensitive --ignore-case --glob --regex --fixed-strings --absolute-path --full-path --print0 --max-depth: --min-depth: --exact-depth: --type: --extension: --exclude: --size: --changed-within: --changed-before: --max-results: --quiet --color: --threads: --and: --prune --one-file-system --strip-cwd-prefix? --path-separator: --help --version",
  operands: "names",
  first: { count: 1, unless: [] },
};
// Not `-L`: with `-R` it lists what links lead to.
const ls: ReadOnlyProgram = {
  options: `-1 -a -A -b -B -c -C -d -D -f -F -g -G -h -H -i -I: -k -l -m -n -N -o -p -q -Q -r -R -s -S -t -T: -u -U -v -w: -x -X -Z
    --all --almost-all --author --escape --block-size: --ignore-backups --color? --directory --dired --classify? --file-type
    --format: --full-time --group-directories-first --no-group --human-readable --si --dereference-command-line
    --dereference-command-line-symlink-to-dir --hide: --hyperlink? --indicator-style: --inode --ignore: --kibibytes
    --numeric-uid-gid --literal --hide-control-chars --show-control-chars --quote-name --quoting-style: --reverse --recursive
    --size --sort: --time: --time-style: --tabsize: --width: --context --zero ${version}`,
  operands: "names",
  isOpen: true,
};

export const systemReaders: Readonly<Record<string, ReadOnlyProgram>> = {
  ls,
  dir: ls,
  vdir: ls,
  pwd: { options: "-L -P --logical --physical --help --version", operands: "none" },
  stat: {
    options: `-L -f -c: -t --dereference --file-system --format: --printf: --terse --cached: ${version}`,
    operands: "names",
    isOpen: true,
  },
  // Not `-C`, `-m`, `-f`, `-p` and `-z`.
  file: {
    options: `-b -c -d -E -F: -h -i -k -L -N -n -r -s -S -v -0 --brief --checking-printout --dereference --no-dereference --extension --mime --mime-type --mime-encoding --keep-going --separator: --no-pad --raw --print0 --apple ${version}`,
    operands: "contents",
  },
  // Not `-L`, here and below: links lead anywhere.
  du: {
    options: `-0 -a -b -B: -c -D -d: -h -H -k -l -m -P -S -s -t: -x -X< --null --all --apparent-size --block-size: --bytes --total --dereference-args --max-depth: --human-readable --inodes --count-links --no-dereference --separate-dirs --si --summarize --threshold: --time? --time-style: --exclude-from< --exclude: --one-file-system ${version}`,
    operands: "names",
    isOpen: true,
  },
  df: {
    options: `-a -B: -h -H -i -k -l -P -t: -T -x: -v --all --block-size: --human-readable --si --inodes --local --no-sync --output? --portability --total --type: --print-type --exclude-type: ${version}`,
    operands: "names",
    isOpen: true,
  },
  // Not `-l`, `-o` and `-R`.
  tree: {
    options:
      "-a -d -f -x -L: -P: -I: -p -u -g -s -h -D -F -q -N -Q -r -t -c -U -v -i -A -S -n -C -J -X --gitignore --gitfile< --ignore-case --matchdirs --metafirst --prune --info --noreport --charset: --filelimit: --si --du --timefmt: --inodes --device --dirsfirst --filesfirst --sort: --nolinks --help --version",
    operands: "names",
  },
  // Not `-x`, `-X` and `-l`.
  fd,
  fdfind: fd,
  basename: { options: `-a -s: -z --multiple --suffix: --zero ${version}`, operands: "text", isOpen: true },
  dirname: { options: `-z --zero ${version}`, operands: "text", isOpen: true },
  realpath: {
    options: `-e -m -L -P -q -s -z --canonicalize-existing --canonicalize-missing --logical --physical --quiet --strip --no-symlinks --zero --relative-to< --relative-base< ${version}`,
    operands: "names",
    isOpen: true,
  },
  readlink: {
    options: `-f -e -m -n -q -s -v -z --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --quiet --silent --verbose --zero ${version}`,
    operands: "names",
    isOpen: true,
  },
  which: { options: "-a -s --all --skip-alias --version", operands: "text", isOpen: true },
  type: { options: "-a -f -t -p -P", operands: "text", isOpen: true },
  seq: { options: `-f: -s: -w --format: --separator: --equal-width ${version}`, operands: "text" },
  uname: {
    options: `-a -s -n -r -v -m -p -i -o --all --kernel-name --nodename --kernel-release --kernel-version --machine --processor --hardware-platform --operating-system ${version}`,
    operands: "none",
  },
  arch: none,
  whoami: none,
  logname: none,
  // Any operand sets the name, and most options look it up.
  hostname: { options: "-s --short -V", operands: "none" },
  id: {
    options: `-a -Z -g -G -n -r -u -z --context --group --groups --name --real --user --zero ${version}`,
    operands: "text",
    most: 1,
  },
  groups: { options: version, operands: "text", most: 1 },
  nproc: { options: `--all --ignore: ${version}`, operands: "none" },
  uptime: { options: "-p -s -h -V --pretty --since --help --version", operands: "none" },
  free: {
    options:
      "-b -k -m -g -h -w -t -l -V --bytes --kilo --mega --giga --tera --kibi --mebi --gibi --human --wide --total --lohi --si --help --version",
    operands: "none",
  },
  tty: { options: `-s --silent --quiet ${version}`, operands: "none" },
  cal: { options: "-1 -3 -s -m -j -y -w -h -V", operands: "text", most: 3 },
  getconf: { options: "-a", operands: "text", most: 1 },
  lscpu: {
    options: "-a -b -c -J -e? -p? --all --online --offline --json --extended? --parse? --help --version",
    operands: "none",
  },
  expr: { options: version, operands: "text", isOpen: true },
  factor: { options: version, operands: "text", isOpen: true },
  unzip: { options: "-l -v -Z -1 -q -qq -h", operands: "contents", most: 1, needs: ["-l", "-v", "-Z"] },
  zipinfo: { options: "-1 -2 -s -m -l -v -h -t -T -z", operands: "contents", most: 1 },
  node: saysVersion("--version -v"),
  npm: saysVersion("--version -v"),
  yarn: saysVersion("--version -v"),
  pnpm: saysVersion("--version -v"),
  bun: saysVersion("--version -v"),
  deno: saysVersion("--version -V"),
  tsc: saysVersion("--version -v"),
  python: saysVersion("--version -V"),
  python2: saysVersion("--version -V"),
  python3: saysVersion("--version -V"),
  pip: saysVersion("--version -V"),
  pip3: saysVersion("--version -V"),
  ruby: saysVersion("--version -v"),
  perl: saysVersion("--version -v"),
  php: saysVersion("--version -v"),
  java: saysVersion("-version --version"),
  javac: saysVersion("-version --version"),
  rustc: saysVersion("--version -V"),
  cargo: saysVersion("--version -V"),
  gcc: saysVersion("--version"),
  "g++": saysVersion("--version"),
  cc: saysVersion("--version"),
  clang: saysVersion("--version"),
  make: saysVersion("--version -v"),
  cmake: saysVersion("--version"),
  bash: saysVersion("--version"),
  zsh: saysVersion("--version"),
};
