/** Programs that run another program: how to find it among their words. */

export type Wrapper = {
  /** Options whose value is the next word, unless it is attached. */
  readonly valued?: string;
  /** Options whose value is a command line for a shell. */
  readonly shellText?: string;
  /** Words that stand before the program. */
  readonly skip?: number;
  /** `NAME=value` may stand before the program. */
  readonly takesAssignments?: boolean;
  /** The rest is a command line, put together with blanks, and not a list of words. */
  readonly joins?: boolean;
  /** Only with one of these options does it run something. */
  readonly onlyWith?: readonly string[];
  /** Words behind this one are not part of the command. */
  readonly until?: RegExp;
  /** What stands before this word is not part of the command. */
  readonly from?: RegExp;
};

const plain: Wrapper = {};
const skipsOne: Wrapper = { skip: 1 };

export const wrappers: Readonly<Record<string, Wrapper>> = {
  env: { valued: "-u --unset -C --chdir", shellText: "-S --split-string", takesAssignments: true },
  timeout: { valued: "-k --kill-after -s --signal", skip: 1 },
  nice: { valued: "-n --adjustment" },
  nohup: plain,
  stdbuf: { valued: "-i -o -e --input --output --error" },
  time: { valued: "-f --format -o --output" },
  setsid: plain,
  ionice: { valued: "-c -n -p -P -u --class --classdata" },
  chrt: { valued: "-T -P -D --sched-runtime --sched-period --sched-deadline", skip: 1 },
  taskset: skipsOne,
  flock: { valued: "-w --timeout -E --conflict-exit-code", shellText: "-c --command", skip: 1 },
  sudo: {
    valued:
      "-u --user -g --group -h --host -p --prompt -C --close-from -T --command-timeout -r --role -t --type -D --chdir -R --chroot -U --other-user -a",
    takesAssignments: true,
  },
  doas: { valued: "-u -C -a" },
  pkexec: { valued: "--user" },
  gosu: skipsOne,
  "su-exec": skipsOne,
  su: {
    valued: "-s --shell -g --group -G --supp-group -w --whitelist-environment",
    shellText: "-c --command --session-command",
    onlyWith: ["-c"],
  },
  runuser: { valued: "-u --user -s --shell -g -G", shellText: "-c --command", onlyWith: ["-u", "-c"] },
  sg: { shellText: "-c", skip: 1 },
  chroot: { valued: "--userspec --groups", skip: 1 },
  unshare: { valued: "-S --setuid -G --setgid -R --root -w --wd --propagation --map-user --map-group" },
  nsenter: { valued: "-t --target -S --setuid -G --setgid" },
  setpriv: {
    valued:
      "--reuid --regid --pdeathsig --inh-caps --bounding-set --ambient-caps --securebits --selinux-label --groups",
  },
  setarch: plain,
  linux32: plain,
  linux64: plain,
  prlimit: { valued: "-p --pid -o --output" },
  "systemd-run": {
    valued:
      "-u --unit -p --property --description --slice --uid --gid --nice --working-directory -E --setenv --on-calendar -M --machine -H --host",
  },
  command: { valued: "" },
  builtin: plain,
  exec: { valued: "-a" },
  eval: { joins: true },
  xargs: {
    valued:
      "-I -n -P -L -s -d -E -a --max-args --max-procs --max-lines --max-chars --delimiter --eof --arg-file --replace --process-slot-var",
  },
  parallel: {
    valued:
      "-j --jobs -a --arg-file --colsep -C -d --delimiter -n --max-args -N --max-replace-args -L -I --joblog --results --timeout --retries --delay --tmpdir --workdir --wd -S --sshlogin --tagstring",
    joins: true,
    until: /^:{3,4}\+?$/,
  },
  watch: { valued: "-n --interval -q --equexit", joins: true },
  entr: plain,
  script: {
    valued:
      "-E --echo -I --log-in -O --log-out -B --log-io -m --logging-format -o --output-limit -T --log-timing -t",
    shellText: "-c --command",
    onlyWith: ["-c"],
  },
  busybox: plain,
  toybox: plain,
  strace: { valued: "-e -o -p -s -P -E -O -S -u -a -b -I -X --trace --output --attach" },
  ltrace: { valued: "-e -o -p -s -u -n -a -l -x" },
  valgrind: plain,
  gdb: { onlyWith: ["--args"], valued: "-x -ex -p -c -d -ix -iex" },
  perf: { valued: "-e -o -p -F", skip: 1 },
  fakeroot: { valued: "-l --lib --faked -s -i -b", from: /^--$/ },
  proxychains: { valued: "-f" },
  proxychains4: { valued: "-f" },
  torsocks: plain,
  torify: plain,
  firejail: plain,
  bwrap: { from: /^--$/ },
  "xvfb-run": { valued: "-n -s -e -f -p -w --server-num --server-args" },
  "dbus-run-session": { from: /^--$/ },
  unbuffer: plain,
  rlwrap: plain,
  caffeinate: { valued: "-t -w" },
  tini: plain,
  "dumb-init": plain,
  hyperfine: {
    valued:
      "-w -r -m -M -p -c -n -u -S --warmup --runs --min-runs --max-runs --prepare --cleanup --export-json --export-markdown --shell",
    joins: true,
  },
  direnv: { from: /^exec$/, skip: 1 },
  npx: { valued: "-p --package", shellText: "-c --call" },
  faketime: skipsOne,
  proot: { valued: "-r -b -w -q -R -S -0 --rootfs --bind --cwd" },
  catchsegv: plain,
  heaptrack: plain,
  "ssh-agent": { valued: "-a -E -t -P" },
  cgexec: { valued: "-g" },
  numactl: { valued: "-C -N -m -i -p --physcpubind --cpunodebind --membind --interleave --preferred" },
  "s6-setuidgid": skipsOne,
  chpst: { valued: "-u -U -e -/ -n -l -L -m -d -o -p -f -c" },
  softlimit: { valued: "-a -c -d -f -l -m -o -p -r -s -t" },
  logsave: skipsOne,
  "cross-env": { takesAssignments: true },
  "env-cmd": { valued: "-f --file -e --environments -r --rc-file" },
  dotenv: { valued: "-e -c -v -p", from: /^--$|^run$/ },
  dotenvx: { from: /^--$/ },
  doppler: { from: /^--$/ },
  op: { from: /^--$/ },
  "aws-vault": { from: /^--$/ },
  infisical: { from: /^--$/ },
  chamber: { from: /^--$/ },
  capsh: { shellText: "-c", from: /^--$/ },
  "nix-shell": { valued: "-p -A -E -I --packages", shellText: "--run --command", onlyWith: ["--run"] },
  "ld.so": plain,
  "ld-linux-x86-64.so.2": { valued: "--library-path --preload --audit --argv0 --inhibit-rpath" },
  "ld-linux-aarch64.so.1": { valued: "--library-path --preload --audit --argv0 --inhibit-rpath" },
  "ld-linux.so.2": { valued: "--library-path --preload --audit --argv0 --inhibit-rpath" },
  bunx: plain,
  uvx: { valued: "--from --with -p --python" },
  pipx: { from: /^run$/ },
};

/** Shells: `-c` takes a command line, any other operand is a script. */
export const shells: ReadonlySet<string> = new Set([
  "sh",
  "bash",
  "dash",
  "zsh",
  "ksh",
  "mksh",
  "ash",
  "rbash",
  "fish",
  "csh",
  "tcsh",
  "busybox-sh",
  "pwsh",
  "yash",
]);

/** Programs that run what stands in a file, in an option or in their input. */
export const interpreters: Readonly<Record<string, { readonly inline: readonly string[] }>> = {
  python: { inline: ["-c", "-m"] },
  python2: { inline: ["-c", "-m"] },
  python3: { inline: ["-c", "-m"] },
  pypy3: { inline: ["-c", "-m"] },
  node: { inline: ["-e", "-p", "--eval", "--print", "-r", "--require", "--import"] },
  nodejs: { inline: ["-e", "-p", "--eval", "--print", "-r", "--require", "--import"] },
  bun: { inline: ["-e", "--eval", "-p", "--print"] },
  deno: { inline: ["eval"] },
  tsx: { inline: ["-e", "--eval", "-p", "--print"] },
  "ts-node": { inline: ["-e", "--eval", "-p", "--print"] },
  perl: { inline: ["-e", "-E", "-n", "-p", "-i", "-M", "-m"] },
  ruby: { inline: ["-e", "-n", "-p", "-i", "-r"] },
  php: { inline: ["-r", "-B", "-R", "-E", "-F"] },
  lua: { inline: ["-e", "-l"] },
  luajit: { inline: ["-e", "-l"] },
  Rscript: { inline: ["-e"] },
  R: { inline: ["-e", "-f"] },
  julia: { inline: ["-e", "-E"] },
  osascript: { inline: ["-e"] },
  tclsh: { inline: [] },
  expect: { inline: ["-c"] },
  groovy: { inline: ["-e"] },
  scala: { inline: ["-e"] },
  elixir: { inline: ["-e"] },
  erl: { inline: ["-eval", "-s", "-run"] },
  ghc: { inline: ["-e"] },
  guile: { inline: ["-c"] },
  sbcl: { inline: ["--eval"] },
  emacs: { inline: ["--eval", "-eval", "-f", "-l", "--batch"] },
  sqlite3: { inline: ["-cmd", "-init"] },
  psql: { inline: ["-c", "-f", "--command", "--file"] },
  mysql: { inline: ["-e", "--execute"] },
};

/** It runs whatever it is given. */
export const isRunner = (name: string): boolean =>
  shells.has(name) || Object.hasOwn(interpreters, name) || Object.hasOwn(wrappers, name);
