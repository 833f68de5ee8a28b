/** The kind of a command: the rule that a question about it offers, and what else that rule means. */
import type { Analysis, ShellContext } from "../shell/meaning/analyse.ts";
import type { NamedCommand } from "../shell/meaning/commands.ts";
import { writingRedirections } from "../shell/meaning/effects.ts";
import { programName } from "../shell/meaning/inside.ts";
import { destroys } from "../shell/programs/destroys.ts";
import { isRunner } from "../shell/programs/wrappers.ts";
import type { Suggestion } from "./command-judge.ts";
import { dangerOf } from "./danger.ts";
import { readPattern } from "./read-pattern.ts";
import { type PermissionRule, parseRule } from "./rules.ts";
import { coversCommand } from "./shell-rules.ts";

export function commandRule(
  tool: string,
  text: string,
  analysis: Analysis,
  context: ShellContext,
): Suggestion | undefined {
  if (analysis.kind === "unread" || analysis.doubts.some(({ kind }) => kind !== "flow")) return undefined;
  // Where output goes is asked each time.
  if (analysis.steps.some((step) => writingRedirections(step).length > 0)) return undefined;
  const open = analysis.commands.filter((command) => {
    const proof = analysis.proofs[analysis.steps.indexOf(command.step)];
    return !proof?.ok || proof.concerns.length > 0;
  });
  // The same text may become something else the next time.
  if (open.some(({ step }) => step.words.some(({ kind }) => kind === "unknown"))) return undefined;
  const [only, ...more] = open;
  if (!only || more.length > 0) return exactRule(tool, text);
  const words = kindOf(only);
  const rule = words && ruleOfKind(tool, words, only, context);
  return rule ? { rule: rule.text, preview: previewOf(rule, words) } : exactRule(tool, text);
}

/** The rule about the kind of one simple command, and nothing wider. */
export function kindRule(tool: string, command: NamedCommand, context: ShellContext): string | undefined {
  const words = kindOf(command);
  return words && ruleOfKind(tool, words, command, context)?.text;
}

function ruleOfKind(
  tool: string,
  words: readonly string[],
  command: NamedCommand,
  context: ShellContext,
): PermissionRule | undefined {
  const rule = parseRule(`${tool}(${words.join(" ")}:*)`);
  const isCovering =
    rule?.pattern.kind === "shell" && coversCommand(readPattern(rule.pattern.shell), command, context);
  return isCovering ? rule : undefined;
}

/** What else it lets through, and what it does not. */
function previewOf(rule: PermissionRule, words: readonly string[]): string {
  const danger = dangerOf(rule);
  const example = examples[words.join(" ")];
  return [
    `every command that starts with the words "${words.join(" ")}", whatever follows`,
    ...(example === undefined ? [] : [`also \`${example}\``]),
    ...(danger === undefined ? [] : [danger]),
    "but not what starts other programs, nor output to files that are not asked about",
  ].join("; ");
}

/** What people do not think of when they see the first words. */
const examples: Readonly<Record<string, string>> = {
  "git push": "git push --force",
  "git commit": "git commit --amend",
  "git checkout": "git checkout -- .",
  "git restore": "git restore .",
  "git reset": "git reset --hard",
  "git clean": "git clean -fdx",
  "git rebase": "git rebase --onto other",
  "git branch": "git branch -D main",
  "git add": "git add --all",
  "git stash drop": "git stash drop stash@{1}",
  "npm install": "npm install any-package",
  "npm publish": "npm publish --tag latest",
  "pip install": "pip install any-package",
  "docker run": "docker run any-image",
  "gh api": "gh api --method DELETE …",
  "gh pr": "gh pr merge",
  make: "make install",
  curl: "curl --upload-file secret https://…",
};

/** The same text and nothing else. Signs that mean something in a rule cannot stand in one. */
function exactRule(tool: string, text: string): Suggestion | undefined {
  const trimmed = text.trim();
  if (/[*\n]/.test(trimmed) || trimmed.length > maxExact || trimmed.endsWith(":")) return undefined;
  return { rule: `${tool}(${trimmed})`, preview: "exactly this command" };
}

/** A longer rule could not be read by anyone. */
const maxExact = 200;

/** Programs whose first words say what is done; of others the program alone says it. */
const withVerbs = new Set(
  "git npm pnpm yarn bun cargo go docker podman kubectl helm gh make pip pip3 uv poetry pipenv bundle rails dotnet mvn gradle terraform systemctl brew apt apt-get composer deno".split(
    " ",
  ),
);
const twoVerbs =
  /^(?:(?:npm|pnpm|yarn|bun) (?:run|exec)|docker (?:compose|image|container|volume|network|system)|gh (?:pr|issue|repo|run|release|api)|git (?:remote|stash|worktree|submodule|config)|uv (?:run|pip)|(?:poetry|pipenv) run|bundle exec|deno (?:task|run)|cargo (?:nextest))$/;

/** Undefined for what should be allowed word by word only: what destroys, and what runs anything. */
function kindOf({ step, inner, hides }: NamedCommand): readonly string[] | undefined {
  const [program, ...rest] = step.words;
  if (program?.kind !== "fixed" || hides) return undefined;
  const name = programName(program);
  const texts = rest.map(({ text }) => text);
  // `poetry run pytest`: what is run belongs to the kind.
  if (inner.length > 0 && !twoVerbs.test(`${name} ${texts[0]}`)) return undefined;
  if (isRunner(name) || destroys(name, texts)) return undefined;
  const isPlain = (word: string | undefined): word is string =>
    word !== undefined && /^[\w@./:+-]+$/.test(word) && !word.startsWith("-");
  const words = [program.text];
  const [first, second] = texts;
  if (withVerbs.has(name)) {
    if (!isPlain(first) || rest[0]?.kind !== "fixed") return undefined;
    words.push(first);
    if (twoVerbs.test(`${name} ${first}`)) {
      if (!isPlain(second) || rest[1]?.kind !== "fixed") return undefined;
      words.push(second);
    }
  }
  return words.every(isPlain) ? words : undefined;
}
