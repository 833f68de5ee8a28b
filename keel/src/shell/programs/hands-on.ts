/**
 * Programs that show, copy or send what is in the files that their words name: what a rule about reading is about. What
 * they do with directories is from their own manuals (GNU coreutils, tar, diffutils, grep and findutils, rsync(1), zip(1),
 * curl(1), dd in POSIX).
 */
import { own } from "../../kernel/json.ts";
import type { Argument } from "../meaning/arguments.ts";
import { executedBy, findWords } from "./find-tests.ts";
import { readerOf } from "./readers.ts";
import { interpreters } from "./wrappers.ts";

/** Whether a word of it that only the run knows may be a file whose contents come out. */
export const handsOn = (program: string): boolean =>
  handing.has(program) || Object.hasOwn(trees, program) || readerOf(program)?.operands === "contents";

const handing = new Set(
  `sed gsed awk gawk mawk nawk jq yq dd curl wget http https xh base64 base32 basenc xxd od hexdump hd openssl gpg gpg2 age
  less more most view vi vim nvim nano emacs ed ex bat batcat pg zcat bzcat xzcat zstdcat gzip bzip2 xz zstd install split
  csplit iconv dos2unix sqlite3 source . mapfile readarray xclip xsel pbcopy wl-copy lp lpr mail mailx sendmail nc ncat socat
  ssh-keygen uuencode ar objdump readelf strings pr look dialog whiptail glow pandoc xmllint xsltproc tidy`
    .split(/\s+/)
    .filter((name) => name !== ""),
);

/** With which options a program goes through whole directories; `true`: always. */
const recursive = /^(?:-[a-zA-Z]*[rR]|--(?:der|rec|dir\w*=rec)|-drecurse$|recurse$)/;
const trees: Readonly<Record<string, RegExp | true>> = {
  rg: true,
  ag: true,
  ack: true,
  ugrep: true,
  rgrep: true,
  grep: recursive,
  egrep: recursive,
  fgrep: recursive,
  zgrep: recursive,
  // Two directories are compared file by file, without any option.
  diff: true,
  colordiff: true,
  cp: /^(?:-[a-zA-Z]*[rRa]|--(?:rec|arc))/,
  // What is moved or linked is found under another name from then on.
  mv: true,
  ln: true,
  tar: true,
  gtar: true,
  bsdtar: true,
  zip: true,
  "7z": true,
  "7za": true,
  "7zr": true,
  rar: true,
  rsync: true,
  scp: true,
  ditto: true,
  cpio: true,
  pax: true,
  docker: true,
  podman: true,
  mount: true,
  restic: true,
  borg: true,
  mksquashfs: true,
  genisoimage: true,
};

/** Programs that start where they stand when no word names a place. */
const startsHere = new Set(["rg", "ag", "ack", "ugrep", "rgrep", "grep", "egrep", "fgrep", "zgrep"]);

export type TreeUse = {
  /** Every word of it may name a directory that it goes through. */
  readonly byWords: boolean;
  /** It may go through the directory in which it runs. */
  readonly here: boolean;
};

export function treesOf(program: string, rest: readonly Argument[]): TreeUse | undefined {
  if (program === "find" || program === "fd" || program === "fdfind") return foundBy(program, rest);
  const row = own(trees, program);
  if (row === undefined) return undefined;
  if (row !== true && !rest.some(({ text }) => row.test(text))) return undefined;
  const operands = rest.filter(({ text }) => !text.startsWith("-"));
  return { byWords: true, here: startsHere.has(program) && operands.length < 2 };
}

/** What is found is given to another program. */
function foundBy(program: string, rest: readonly Argument[]): TreeUse | undefined {
  const { starts, rest: tests } = findWords(rest);
  if (program === "find")
    return executedBy(tests).length > 0 ? { byWords: true, here: starts.length === 0 } : undefined;
  const runs = rest.some(({ text }) => /^(?:-[a-zA-Z]*[xX]|--exec)/.test(text));
  return runs ? { byWords: true, here: true } : undefined;
}

/** Programs that run another one with what they are given on their input. */
export const takesInputAsWords = (program: string): boolean =>
  /^(?:xargs|parallel|cpio|pax|rust-parallel)$/.test(program);

/** Wrappers that run a program in another directory or under another root: its names mean others there. */
export const changesPlace = (program: string, rest: readonly Argument[]): boolean =>
  program === "chroot" ||
  (/^(?:env|sudo|doas|unshare|nsenter|systemd-run|proot|bwrap|parallel|chpst|setpriv|flatpak|firejail)$/.test(
    program,
  ) &&
    rest.some(({ text }) =>
      /^(?:-[a-zA-Z]*[CDwRr/]|--(?:chd|wd|work|cwd|root|chroot|bind|rootfs))/.test(text),
    ));

/** Programs whose words hold code that may open files. */
export const takesScripts = (program: string): boolean =>
  Object.hasOwn(interpreters, program) || /^(?:g?sed|[gmn]?awk|jq|yq)$/.test(program);

/** Programs in which `@` stands before the name of a file, and `name=value` is a file. */
export const readsBehindAt = (program: string): boolean =>
  /^(?:curl|wget|https?|xh|gcc|g\+\+|cc|clang|ld|ar|javac|java)$/.test(program);
export const readsBehindEquals = (program: string): boolean => program === "dd";

/**
 * Whether it may put another file, or a link, under a name: what was looked at before is then not what is read after. A
 * program that runs code may do so too, but whoever allows that allows more.
 */
export function rearranges(program: string, rest: readonly Argument[]): boolean {
  const row = own(rearranging, program);
  if (row === undefined) return false;
  return row === true || rest.some(({ kind, text }) => kind !== "fixed" || row.test(text));
}

const rearranging: Readonly<Record<string, RegExp | true>> = {
  ln: true,
  link: true,
  mv: true,
  mount: true,
  bindfs: true,
  cp: /^(?:-[a-zA-Z]*[rRadPls]|--(?:rec|arc|no-d|lin|sym|pres))/,
  rsync: true,
  tar: /^-?[a-zA-Z]*x|^--(?:ext|get)/,
  gtar: /^-?[a-zA-Z]*x|^--(?:ext|get)/,
  bsdtar: /^-?[a-zA-Z]*x|^--(?:ext|get)/,
  unzip: true,
  "7z": /^x$|^e$/,
  cpio: true,
  pax: true,
  patch: true,
  unsquashfs: true,
  git: /^(?:checkout|switch|pull|merge|reset|restore|stash|apply|am|rebase|cherry-pick|revert|clone|worktree|submodule|read-tree|checkout-index|bisect|sparse-checkout|mv|init)$/,
};
