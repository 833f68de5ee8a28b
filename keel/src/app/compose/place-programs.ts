/**
 * Programs of settings, placed: a relative one is meant from the folder of its settings, never from wherever a session
 * happens to work, and a script that an interpreter is given is a program too.
 */
import path from "node:path";
import { baseOf, type CommandLineMapper, mapCommandLines } from "../../config/settings/command-lines.ts";
import type { JudgedEntry } from "../../config/settings/entries.ts";
import { realOf } from "../../config/settings/project-root.ts";
import { interpreters, shells } from "../../shell/programs/wrappers.ts";
import { knownText } from "../../shell/read/nodes.ts";
import { readScript } from "../../shell/read/read-script.ts";
import type { Node, ParsedScript, Word } from "../../shell/read/syntax.ts";

/** `cwd`: where commands run. What is meant from there anyhow stays as it is. */
export function placePrograms(entries: readonly JudgedEntry[], cwd: string): readonly JudgedEntry[] {
  return entries.map((entry) => {
    const base = entry.state.kind === "counts" ? baseOf(entry) : undefined;
    return base === undefined || realOf(base) === realOf(cwd)
      ? entry
      : { ...entry, value: mapCommandLines(entry, placerFor(base)) };
  });
}

const placerFor = (base: string): CommandLineMapper => ({
  text: (text) => placeText(text, base),
  words: (words) => placeWords(words, base),
});

/** The words of one command with its program, and the script of an interpreter, as absolute paths. */
function placeWords(words: readonly string[], base: string): string[] {
  const at = programAt(words);
  const name = path.basename(words[at] ?? "");
  const places = new Set(hasFolder(words[at]) ? [at] : []);
  if (isInterpreter(name)) for (const script of scriptsAt(words, at + 1)) places.add(script);
  return words.map((word, index) => (places.has(index) && isRelative(word) ? path.join(base, word) : word));
}

const isRelative = (word: string): boolean => !path.isAbsolute(word) && !/^[~$]/.test(word);
const hasFolder = (word: string | undefined): boolean => word?.includes("/") ?? false;
const isInterpreter = (name: string): boolean =>
  name === "." || name === "source" || shells.has(name) || Object.hasOwn(interpreters, name);

/** Words that stand before a program and start it. */
const starters = new Set(["env", "exec", "nohup", "time", "command", "sudo", "nice", "setsid", "!"]);

function programAt(words: readonly string[]): number {
  const at = words.findIndex(
    (word) => !starters.has(word) && !/^[A-Za-z_]\w*=/.test(word) && !word.startsWith("-"),
  );
  return Math.max(0, at);
}

/** The first word that is no option, and whatever an option before it may have for a value. */
function scriptsAt(words: readonly string[], from: number): number[] {
  const found: number[] = [];
  for (let at = from; at < words.length; at++) {
    const before = words[at - 1] ?? "";
    if (/^(?:-c|-e|-m|-p|--eval|--print|eval)$/.test(before)) return found;
    if (words[at]?.startsWith("-")) continue;
    found.push(at);
    if (at === from || !before.startsWith("-")) return found;
  }
  return found;
}

/** A text for the shell. One that goes elsewhere first says itself where it means. */
function placeText(text: string, base: string): string {
  const script = readScript(text);
  // Where nobody can tell what a relative name is, nothing runs: it could be the repository's.
  if (!script.ok) return /(?:^|[\s;|&(`"'])\.{1,2}\//.test(text) ? refusal : text;
  const commands = commandsIn(script.value);
  if (commands.some(([first]) => /^(?:cd|pushd)$/.test(first ? (knownText(first) ?? "") : ""))) return text;
  const edits = commands
    .flatMap((words) => editsOf(words, base))
    .toSorted((one, two) => two.start - one.start);
  return edits.reduce(
    (now, { start, end, word }) => `${now.slice(0, start)}${quoted(word)}${now.slice(end)}`,
    text,
  );
}

const refusal =
  "echo 'Keel cannot tell which program this means: write its whole path in the settings.' >&2; exit 1";

type Replacement = { readonly start: number; readonly end: number; readonly word: string };

function editsOf(words: readonly Word[], base: string): Replacement[] {
  // What only the run knows is no path that could be placed; a variable says itself where it leads.
  const texts = words.map((word) => knownText(word) ?? "$");
  const placed = placeWords(texts, base);
  const isShell = shells.has(path.basename(texts[programAt(texts)] ?? ""));
  return words.flatMap(({ start, end }, at) => {
    const text = texts[at] ?? "";
    const isCode = isShell && /^-[a-z]*c$/.test(texts[at - 1] ?? "") && text !== "$";
    const word = isCode ? placeText(text, base) : (placed[at] ?? text);
    return start >= 0 && word !== text ? [{ start, end, word }] : [];
  });
}

const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

/** Every command of a script with its words, however deep it stands. */
function commandsIn({ items }: ParsedScript): (readonly Word[])[] {
  return items.flatMap(({ node }) => commandsOf(node));
}

function commandsOf(node: Node): (readonly Word[])[] {
  const inner = (words: readonly Word[]): (readonly Word[])[] =>
    words.flatMap(({ parts }) => parts.flatMap((part) => ("script" in part ? commandsIn(part.script) : [])));
  switch (node.kind) {
    case "simple":
      return [node.words, ...inner(node.words)];
    case "pipeline":
      return node.nodes.flatMap(commandsOf);
    case "compound":
      return [...inner(node.words), ...node.scripts.flatMap(commandsIn)];
  }
}
