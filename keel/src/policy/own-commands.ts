/**
 * Keel's own commands in a shell text: those that change what Keel lets run, whom it trusts and whose keys it uses are
 * asked about in every mode, however they are spelled. Those that only show are not.
 */
import type { Analysis } from "../shell/meaning/analyse.ts";
import { type Argument, withText } from "../shell/meaning/arguments.ts";
import { withInner } from "../shell/meaning/commands.ts";
import { programOf } from "../shell/meaning/inside.ts";
import { inputsOf, type ShellStep } from "../shell/meaning/walk.ts";
import { viewsOf } from "../shell/programs/command-views.ts";
import { deniedCommand, levelOf, type Spelling } from "./denied-command.ts";
import { isPlainData } from "./hidden-command.ts";

/** Words behind which Keel changes something of itself, with those that only show it. */
export const ownGroups: Readonly<Record<string, string>> = {
  permissions: "list explain test",
  trust: "list status",
  config: "list get schema",
  auth: "status",
  plugin: "list",
  mcp: "list status serve",
  import: "",
};

const spellings: readonly Spelling[] = Object.keys(ownGroups).flatMap(
  (group) => deniedCommand({ kind: "prefix", words: ["keel", group] }).spellings,
);

/** Why it must be asked about, or undefined where there is no such command in it. */
export function changesKeel(text: string, analysis: Analysis): string | undefined {
  return isChange(text, analysis) ? "it may change Keel's own permissions, trust or settings" : undefined;
}

function isChange(text: string, analysis: Analysis): boolean {
  // Most texts do not say its name at all.
  const isNamed = mention.test(text);
  if (analysis.kind === "unread") return isNamed && isInText(text);
  const commands = analysis.commands.flatMap(withInner);
  if (commands.some(({ step }) => isUnnamed(step.words, isNamed))) return true;
  if (!isNamed && !commands.some(({ step }) => step.words.some((word) => mention.test(word.text))))
    return false;
  // Code that comes in through a pipe stands elsewhere in the text.
  if (commands.some(({ hides }) => hides) && isInText(text)) return true;
  return analysis.steps.some(isAssigned) || commands.some(({ step }) => changesBy(step));
}

function changesBy(step: ShellStep): boolean {
  const { name, rest } = programOf(step);
  if (viewsOf(step.words).some((words) => isChangeIn(words.slice(0, 1), words))) return true;
  // What it takes for data it does not run.
  if (isPlainData(name, rest)) return false;
  const texts = [...rest, ...inputsOf(step.redirections)].map(({ text }) => text);
  return isChangeIn(rest, step.words) || texts.some((text) => /\s/.test(text) && isInText(text));
}

const isAssigned = ({ assignments }: ShellStep): boolean =>
  assignments.some(({ value }) => mention.test(value.text) && isInText(value.text));

/** `$program trust add`, where only the run knows the program. */
function isUnnamed([program, ...rest]: readonly Argument[], isNamed: boolean): boolean {
  const [group] = rest;
  if (program === undefined || program.kind === "fixed" || group?.kind !== "fixed") return false;
  const isGroup = isNamed ? Object.hasOwn(ownGroups, group.text) : /^(?:permissions|trust)$/.test(group.text);
  return isGroup && !isOnlyShown(rest);
}

const mention = /keel|(?:start|load)\.cjs/i;

/** At every word that is its name: what runs another program is not always known. */
const isChangeIn = (starts: readonly Argument[], words: readonly Argument[]): boolean =>
  starts.some((start) => {
    if (start.kind !== "fixed" || !isOwnName(start.text)) return false;
    const rest = words.slice(words.indexOf(start) + 1);
    if (isOnlyShown(rest)) return false;
    const named = [withText(start, "keel"), ...rest];
    return spellings.some((spelling) => levelOf(spelling, named, { from: "first" }) > 0);
  });

/** As it is installed, as its launcher starts it, and as one of its files. */
const isOwnName = (text: string): boolean =>
  /^(?:.*\/)?(?:keel(?:@[^/]*|\.\w+)?|(?:start|load)\.cjs)$|(?:^|\/)keel\/(?:.*\/)?[\w.-]+\.[cm]?[jt]s$/is.test(
    text,
  );

/** `list` right behind its group, with nothing in between that could mean something else. */
function isOnlyShown([group, verb]: readonly Argument[]): boolean {
  const shows = Object.hasOwn(ownGroups, group?.text ?? "") ? (ownGroups[group?.text ?? ""] ?? "") : "";
  return verb?.kind === "fixed" && verb.text !== "" && ` ${shows} --help -h `.includes(` ${verb.text} `);
}

/** In a text for another program to run, as far as its words show. */
function isInText(text: string): boolean {
  const tokens = text.slice(0, maxText).split(/[^\w./-]+/);
  return tokens.some((token, at) => {
    if (!isOwnName(token)) return false;
    const group = tokens.findIndex((word, index) => index > at && Object.hasOwn(ownGroups, word));
    if (group < 0 || group > at + maxBetween) return false;
    const shows = ownGroups[tokens[group] ?? ""] ?? "";
    return !` ${shows} `.includes(` ${tokens[group + 1] ?? ""} `) || (tokens[group + 1] ?? "") === "";
  });
}

/** Longer than what anybody puts a command into. */
const maxText = 20_000;
/** Options that may stand between its name and a group. */
const maxBetween = 8;
