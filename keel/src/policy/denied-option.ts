/** An option that a rule names, among the words of a command: joined with others, cut short, or by its other name. */

/** How surely something is what a rule names: not, perhaps, for sure. */
export type Level = 0 | 1 | 2;

export function optionLevel(option: string, texts: readonly string[]): Level {
  const end = texts.indexOf("--");
  const before = end < 0 ? texts : texts.slice(0, end);
  if (before.some((text) => isSame(option, text))) return 2;
  if (isShort(option) && lettersOf(option).every((letter) => before.some((text) => hasLetter(text, letter))))
    return before.some((text) => text.length > 4 && isShort(text)) ? 1 : 2;
  // Behind the end of options it is a name, for most programs.
  return texts.some((text) => isSame(option, text) || isCut(option, text) || isOther(option, text)) ? 1 : 0;
}

/** `--force`, `--force=true`, and with one dash where programs make no difference. */
function isSame(option: string, text: string): boolean {
  if (text === option || text.startsWith(`${option}=`)) return true;
  return option.length > 3 && bareOf(text) === bareOf(option) && text.startsWith("-");
}

const bareOf = (option: string): string => option.replace(/^--?/, "").replace(/=.*$/s, "");

/** Letters behind one dash. */
const isShort = (option: string): boolean => /^-[A-Za-z]{1,6}$/.test(option);
const lettersOf = (option: string): string[] => [...option.slice(1)];
const hasLetter = (text: string, letter: string): boolean => isShort(text) && text.includes(letter, 1);

/** Long names may be cut as long as they are clear: getopt_long(3), and parsers that follow it. */
const isCut = (option: string, text: string): boolean =>
  option.startsWith("--") && /^--\w/.test(text) && option.startsWith(text.replace(/=.*$/s, ""));

/** Short and long names that mean the same in most programs. */
const pairs: readonly string[] = [
  "-f --force --force-with-lease",
  "-r -R --recursive",
  "-a --all",
  "-y --yes --assume-yes",
  "-g --global",
  "-d -D --delete",
  "-n --dry-run",
  "-o --output",
  "-v --volumes --volume",
  "-c --command",
  "-e --eval --exec",
  "-m --message --module",
  "-p --print --privileged",
  "-x --exec",
];

const isOther = (option: string, text: string): boolean =>
  pairs.some((row) => {
    const names = row.split(" ");
    return names.includes(option) && names.some((name) => isSame(name, text) || isCutOf(name, text));
  });

const isCutOf = (name: string, text: string): boolean => text.length > 4 && isCut(name, text);
