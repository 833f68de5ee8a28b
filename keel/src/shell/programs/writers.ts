/** Programs that write, and which of their words name what they write to. */
import { own } from "../../kernel/json.ts";
import type { Argument } from "../meaning/arguments.ts";
import { readAwkScript } from "./awk-script.ts";
import { findWords, writtenBy } from "./find-tests.ts";
import { gitWrites } from "./git-writes.ts";
import { valuesOf } from "./option-programs.ts";
import { readSedScript } from "./sed-script.ts";
import { wordsBeside } from "./words-beside.ts";
import { fixedWord, type WriteTargets } from "./written.ts";

type WriteReader = (words: readonly Argument[]) => WriteTargets;

export function writtenTo(program: string, words: readonly Argument[]): WriteTargets {
  if (program.startsWith("mkfs.")) return wordsBeside(words);
  return own(programs, program)?.(words) ?? [];
}

const all =
  (valued = ""): WriteReader =>
  (words) =>
    wordsBeside(words, valued);
const afterFirst: WriteReader = (words) => wordsBeside(words).slice(1);
const onlySecond: WriteReader = (words) => wordsBeside(words).slice(1, 2);
const from =
  (...options: readonly string[]): WriteReader =>
  (words) =>
    valuesOf(words, ...options).map((text) => fixedWord(words[0], text));

/** The last operand, or the value of `-t`. What is moved away is written to as well. */
const destination =
  (valued = ""): WriteReader =>
  (words) => {
    const targets = valuesOf(words, "-t", "--target-directory");
    return targets.length > 0
      ? targets.map((text) => fixedWord(words[0], text))
      : wordsBeside(words, valued).slice(-1);
  };

const unknownTargets = (words: readonly Argument[], options: readonly string[]): Argument[] =>
  words.flatMap((word, at) => {
    const next = words[at + 1];
    return options.includes(word.text) && next && next.kind !== "fixed" ? [next] : [];
  });

const tar: WriteReader = (words) => {
  const letters = words[0]?.text.replace(/^-/, "") ?? "";
  const creates =
    /^[a-zA-Z]*[cru]/.test(letters) ||
    words.some(({ text }) => /^--(?:create|append|update|delete)$/.test(text));
  const archives = creates
    ? words.flatMap((word, at) =>
        /^-?[a-zA-Z]*f$/.test(word.text) || word.text === "--file" ? words.slice(at + 1, at + 2) : [],
      )
    : [];
  const extracts =
    /^[a-zA-Z]*x/.test(letters) ||
    words.some(({ text }) => /^--(?:extract|get)$/.test(text) || /^-[a-zA-Z]*x/.test(text));
  const places = extracts
    ? words.flatMap((word, at) => (/^(?:-C|--directory)$/.test(word.text) ? words.slice(at + 1, at + 2) : []))
    : [];
  const anywhere = words.some(({ text }) => /^(?:-P|--absolute-names)$/.test(text)) && extracts;
  return [
    ...archives.filter(({ text }) => text !== "-"),
    ...places,
    ...(anywhere ? (["outside"] as const) : []),
  ];
};

const sed: WriteReader = (words) => {
  const scripts = valuesOf(words, "-e", "--expression");
  const rest = wordsBeside(words, "-e -f -l --expression --file --line-length");
  const [first, ...files] = rest;
  const texts = scripts.length > 0 ? scripts : [first?.text ?? ""];
  const inPlace = words.some(({ text }) => /^(?:-[a-zA-Z]*i|--in-place)/.test(text) && !/^-[ef]/.test(text));
  return [
    ...texts
      .flatMap((text) => readSedScript(text).writes)
      .filter((path) => !path.startsWith("/dev/std"))
      .map((path) => fixedWord(first, path)),
    ...(inPlace ? (scripts.length > 0 ? rest : files) : []),
  ];
};

const awk: WriteReader = (words) =>
  words.flatMap((word) => readAwkScript(word.text).writes.map((path) => fixedWord(word, path)));

/** `%output{file}` of curl 8.3 and later; what a file or standard input says about it nobody can see here. */
const writtenOut: WriteReader = (words) =>
  valuesOf(words, "-w", "--write-out").flatMap((format) => [
    ...[...format.matchAll(/%output\{(?:>>)?([^}]*)\}/g)].map(([, file = ""]) => fixedWord(words[0], file)),
    ...(format.startsWith("@") ? (["outside"] as const) : []),
  ]);

const installsGlobally: WriteReader = (words) =>
  words.some(({ text }) => /^(?:-g|--global|--location=global)$/.test(text)) &&
  words.some(({ text }) => /^(?:install|i|add|uninstall|remove|update|link|global)$/.test(text))
    ? ["outside"]
    : [];
const outsideWith =
  (pattern: RegExp): WriteReader =>
  (words) =>
    words.some(({ text }) => pattern.test(text)) ? ["outside"] : [];
const alwaysOutside: WriteReader = () => ["outside"];

const programs: Readonly<Record<string, WriteReader>> = {
  touch: all("-d -t -r --date --reference"),
  mkdir: all("-m --mode"),
  rmdir: all(),
  rm: all(),
  unlink: all(),
  shred: all("-n -s --iterations --size"),
  truncate: all("-s -r --size --reference"),
  tee: all(),
  mkfifo: all("-m --mode"),
  mknod: (words) => wordsBeside(words, "-m").slice(0, 1),
  sponge: all(),
  cp: destination("-S --suffix"),
  mv: (words) => [...destination("-S --suffix")(words), ...wordsBeside(words).slice(0, -1)],
  install: destination("-m --mode -o --owner -g --group -S"),
  ln: (words) => (wordsBeside(words).length > 1 ? destination("-S --suffix")(words) : []),
  rsync: destination("-e --rsh --exclude --include --filter"),
  scp: (words) =>
    destination("-P -i -o -F -S -l -c -J")(words).filter(
      (word) => word === "outside" || !/^[^/]+:/.test(word.text),
    ),
  dd: (words) =>
    words.flatMap((word) =>
      word.prefix.startsWith("of=")
        ? [{ ...word, text: word.text.slice(3), prefix: word.prefix.slice(3) }]
        : [],
    ),
  tar,
  gtar: tar,
  bsdtar: tar,
  unzip: from("-d"),
  zip: (words) => wordsBeside(words).slice(0, 1),
  gzip: all("-S"),
  gunzip: all("-S"),
  bzip2: all(),
  xz: all(),
  zstd: from("-o", "--output-dir-flat", "--output-dir-mirror", "--trace"),
  "7z": from("-o"),
  curl: (words) => [
    ...from(
      "-o",
      "--output",
      "--output-dir",
      "-D",
      "--dump-header",
      "-c",
      "--cookie-jar",
      "--trace",
      "--trace-ascii",
      "--stderr",
      "--etag-save",
      "--hsts",
      "--alt-svc",
      "--libcurl",
      "--ssl-sessions",
    )(words),
    ...writtenOut(words),
    ...unknownTargets(words, ["-o", "--output"]),
  ],
  wget: (words) => [
    ...from(
      "-O",
      "--output-document",
      "-P",
      "--directory-prefix",
      "-o",
      "--output-file",
      "-a",
      "--append-output",
      "--save-cookies",
      "--hsts-file",
      "--rejected-log",
      "--warc-file",
      "--warc-tempdir",
    )(words).filter((word) => word === "outside" || word.text !== "-"),
    ...unknownTargets(words, ["-O", "-P"]),
  ],
  sort: from("-o", "--output"),
  shuf: from("-o", "--output"),
  iconv: from("-o", "--output"),
  tree: from("-o"),
  split: onlySecond,
  csplit: from("-f", "--prefix"),
  uniq: onlySecond,
  xxd: onlySecond,
  chmod: afterFirst,
  chown: afterFirst,
  chgrp: afterFirst,
  chattr: afterFirst,
  setfacl: afterFirst,
  patch: (words) => [
    ...from("-o", "--output", "-d", "--directory", "-r", "--reject-file")(words),
    ...wordsBeside(words, "-p -i -o -d").slice(0, 1),
  ],
  sed,
  gsed: sed,
  awk,
  gawk: awk,
  mawk: awk,
  find: (words) => {
    const { starts, rest } = findWords(words);
    return [...writtenBy(rest), ...(rest.some(({ text }) => text === "-delete") ? starts : [])];
  },
  git: gitWrites,
  npm: (words) => [...installsGlobally(words), ...from("--prefix")(words)],
  pnpm: installsGlobally,
  yarn: (words) => (words[0]?.text === "global" ? ["outside"] : []),
  bun: installsGlobally,
  pip: outsideWith(/^(?:install|uninstall)$/),
  pip3: outsideWith(/^(?:install|uninstall)$/),
  pipx: outsideWith(/^(?:install|uninstall|upgrade)$/),
  gem: outsideWith(/^(?:install|uninstall|update)$/),
  cargo: outsideWith(/^(?:install|uninstall|login)$/),
  go: outsideWith(/^install$/),
  brew: outsideWith(/^(?:install|uninstall|upgrade|update|tap)$/),
  apt: outsideWith(/^(?:install|remove|purge|upgrade|update|full-upgrade|autoremove)$/),
  "apt-get": outsideWith(/^(?:install|remove|purge|upgrade|update|dist-upgrade|autoremove)$/),
  yum: outsideWith(/^(?:install|remove|update|upgrade)$/),
  dnf: outsideWith(/^(?:install|remove|update|upgrade)$/),
  apk: outsideWith(/^(?:add|del|upgrade|update)$/),
  make: outsideWith(/^install$/),
  history: (words) => words.filter((_, at) => /^-[awrn]$/.test(words[at - 1]?.text ?? "")),
  crontab: alwaysOutside,
  useradd: alwaysOutside,
  usermod: alwaysOutside,
  groupadd: alwaysOutside,
  passwd: alwaysOutside,
  visudo: alwaysOutside,
  systemctl: outsideWith(/^(?:enable|disable|mask|edit|link|set-default|daemon-reload|start|stop|restart)$/),
  sysctl: outsideWith(/^-w$|=/),
  mount: alwaysOutside,
  umount: alwaysOutside,
  modprobe: alwaysOutside,
  insmod: alwaysOutside,
  mkfs: all("-t"),
  wipefs: all(),
  fdisk: all(),
  parted: all(),
  swapon: all(),
  losetup: all(),
  hostnamectl: alwaysOutside,
  timedatectl: alwaysOutside,
  chsh: alwaysOutside,
  at: alwaysOutside,
  "ssh-keygen": from("-f"),
  "ssh-copy-id": alwaysOutside,
  openssl: from("-out", "-keyout", "-writerand"),
  docker: (words) =>
    words.flatMap((word, at) => (/^(?:-v|--volume)$/.test(words[at - 1]?.text ?? "") ? [word] : [])),
  magick: (words) => wordsBeside(words).slice(-1),
  convert: (words) => wordsBeside(words).slice(-1),
  ffmpeg: (words) => wordsBeside(words, "-i -c -vf -b -r -s -t -ss -f").slice(-1),
  gcc: from("-o"),
  "g++": from("-o"),
  cc: from("-o"),
  clang: from("-o"),
};
