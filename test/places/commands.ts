// Commands that read, made from a seed and the names of a folder: plain names and patterns, words that hold a name, nested
// shells, git. Only programs of a fixed list, so that what is allowed may really be run.
import type { Chance } from "../differential/generate.ts";
import type { Place } from "./folder.ts";

/** Programs that rules may allow broadly. None of them changes anything in the way it is used here. */
export const programs =
  "cat head tail grep sed awk git dd tar find xargs bash diff sort nl cut curl env timeout rg jq".split(" ");

export function commandIn(place: Place, chance: Chance): string {
  const name = (): string => wordFor(chance.pick(place.names), chance);
  const plain = (): string => quoted(chance.pick(place.names));
  const simple = (): string =>
    chance.pick([
      () => `cat ${name()}`,
      () => `cat ${name()} ${name()}`,
      () => `head -n 5 ${name()}`,
      () => `tail ./${name()}`,
      () => `grep -h "" ${name()}`,
      () => `grep -r CANARY ${chance.pick(["", ".", name()])}`,
      () => `sed -n p ${name()}`,
      () => `awk '{print}' ${name()}`,
      () => `sort ${name()}`,
      () => `nl ${name()}`,
      () => `cut -c1-80 ${name()}`,
      () => `diff ${name()} ${chance.pick([name(), "readme.md", "/dev/null"])}`,
      () => `cat < ${name()}`,
      () => `cat $PWD/${name()}`,
      () => `cat ~+/${name()}`,
      () => `cat /proc/self/cwd/${name()}`,
      () => `cat "$PWD"/sub/../${name()}`,
      () => `dd status=none if=${plain()}`,
      () => `curl -s "file://$PWD/"${plain()}`,
      () => `tar cf - ${chance.pick([".", name(), "-C sub ."])}`,
      () => `find . -name "*" -exec cat {} +`,
      () => `ls -a | xargs cat`,
      () => `echo ${plain()} | xargs cat`,
      () => `jq -R . ${name()}`,
      () => `sed -n -e p ${name()}`,
      () => `grep -h -f${plain()} -v readme.md readme.md ${name()}`,
      () => `awk '{print}' x=1 ${name()}`,
      () => `env cat ${name()}`,
      () => `timeout 5 cat ${name()}`,
      () => `git diff --no-index /dev/null ${plain()}`,
      () => `git ${chance.pick(["", "--no-pager ", "-C . ", "-C sub "])}${gitWords(place, chance)}`,
    ])();
  return chance.pick([
    simple,
    simple,
    simple,
    () => `${simple()}; ${simple()}`,
    () => `cd ${name()} && cat ${chance.pick(["*", "*.txt", ".e*", "../*", "x.txt", "notes.txt"])}`,
    () => `cd ${plain()}/.. && cat ${name()}`,
    () => `bash -c ${quoted(simple())}`,
    () => `for f in ${name()}; do cat "$f"; done`,
    () => `cat $(echo ${name()})`,
    () => `X=${plain()}; cat $X`,
    () => `echo "$(< ${name()})"`,
    () => `bash -c 'read -r x < ${chance.pick(place.names).replaceAll("'", "")}; echo "$x"'`,
    () => `shopt -s dotglob; cat *`,
    () => `${simple()} | cat`,
  ])();
}

const gitWords = (place: Place, chance: Chance): string => {
  const name = (): string => wordFor(chance.pick(place.names), chance);
  return chance.pick([
    () => "diff HEAD",
    () => "diff --cached",
    () => `diff --cached -- ${name()}`,
    () => "log -p",
    () => "log --pat -n 3",
    () => `log -p -- ${name()}`,
    () => `log -1 -U1 ${name()}`,
    () => "show",
    () => `show HEAD:${quoted(chance.pick(place.names))}`,
    () => `show :${quoted(chance.pick(place.names))}`,
    () => `grep CANARY`,
    () => `grep CANARY -- ${name()}`,
    () => `grep --cached CANARY ${name()}`,
    () => `blame ${name()}`,
    () => `log -L1,1:${quoted(chance.pick(place.names))}`,
    () => `diff --stat HEAD`,
    () => "log --oneline",
    () => "ls-files",
    () => "status -s",
    () => `archive HEAD ${name()}`,
    () => "format-patch --stdout --root HEAD",
    () => `cat-file -p HEAD:${quoted(chance.pick(place.names))}`,
    () => "status -vv",
    () => "stash show -p",
    () => "whatchanged -p",
    () => `diff ${chance.pick(["':(glob)**'", "':/'", "'*.pem'", "."])}`,
  ])();
};

/** A name as somebody would write it: as it is, or as a pattern that finds it among others. */
function wordFor(name: string, chance: Chance): string {
  const at = chance.below(name.length);
  const isPlain = /^[\w./]+$/.test(name);
  if (!isPlain || chance.once(3)) return quoted(name);
  const letter = name[at] ?? "";
  if (letter === "/") return chance.pick([name, name.replace(/^[^/]*/, "*"), name.replace(/[^/]*$/, "*")]);
  const before = name.slice(0, at);
  const after = name.slice(at + 1);
  return chance.pick([
    `${before}?${after}`,
    `${before}*`,
    `${before}[${letter}]${after}`,
    `${before}[!q]${after}`,
    `${before}[a-z.]${after}`,
    `*${after}`,
    `${before}*${after}`,
    `{${name},readme.md}`,
    `${before}"${letter}"${after.replace(/.$/, "?")}`,
    `*/${name.slice(name.lastIndexOf("/") + 1)}`,
    "*",
    "*/*",
    ".*",
    `./${before}*`,
  ]);
}

const quoted = (text: string): string =>
  /^[\w./=@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
