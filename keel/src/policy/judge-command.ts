/** What rules, proofs and facts about paths say of one command: a verdict for each question that policy has. */

import type { PathFacts } from "../ports/workspace.ts";
import type { Claim } from "../protocol/tool.ts";
import { type Analysis, onlyReads, type ShellContext } from "../shell/meaning/analyse.ts";
import type { Argument } from "../shell/meaning/arguments.ts";
import { allSteps } from "../shell/meaning/commands.ts";
import { writingRedirections } from "../shell/meaning/effects.ts";
import { takesCode } from "../shell/meaning/hazards.ts";
import { programOf } from "../shell/meaning/inside.ts";
import { pathScope } from "../shell/meaning/path-scope.ts";
import type { Directories, ShellStep } from "../shell/meaning/walk.ts";
import { writtenTo } from "../shell/programs/writers.ts";
import {
  type CommandJudge,
  notUnderstood,
  type Permit,
  type PermitRequest,
  permitAny,
  permitBy,
  type Touch,
} from "./command-judge.ts";
import { mayHide } from "./hidden-command.ts";
import { mayLieBelow, type PathRuleRoots } from "./path-rules.ts";
import { gitPlaces, type PlaceFacts, placeByText, strangeRepository } from "./place-facts.ts";
import { protectedClaim, protectedPattern } from "./protected.ts";
import { readPattern } from "./read-pattern.ts";
import { covers, type PermissionRule, toucher } from "./rules.ts";
import { coversCommand, touchesCommand } from "./shell-rules.ts";
import { commandRule } from "./suggest-command.ts";

/** A command that was read, as its judge: its text, and what was found in it. */
export function judgeCommand(
  read: Omit<JudgedCommand, "claims" | "place"> & { place?: PlaceFacts },
): CommandJudge {
  const { text, analysis, world, paths } = read;
  // What is found out about a command is found out once, however many rules ask.
  let found: readonly Claim[] | undefined;
  const command: JudgedCommand = {
    place: placeByText(world),
    ...read,
    claims: () => {
      found ??= claimsOf(analysis, world, paths);
      return found;
    },
  };
  return {
    touch: (rule, tool) => touchOf(rule, tool, command),
    permit: (request) => permitOf(command, request),
    protectedWrite: () => protectedWrite(command),
    onlyReads: () => onlyReads(analysis),
    suggest: (tool) => commandRule(tool, text, analysis, world),
  };
}

type JudgedCommand = {
  readonly text: string;
  readonly analysis: Analysis;
  readonly world: ShellContext;
  /** What paths are, where somebody has looked. */
  readonly paths: ReadonlyMap<string, PathFacts>;
  readonly place: PlaceFacts;
  /** What it names as read and written. */
  claims(): readonly Claim[];
};

/** How a deny or ask rule stands to it. */
function touchOf(
  rule: PermissionRule,
  tool: string,
  { text, analysis, world, claims }: JudgedCommand,
): Touch {
  const ground: PathRuleRoots = world;
  if (rule.pattern.kind === "path") {
    if (analysis.kind === "unread") return "no";
    if (claims().some(toucher(rule, tool, ground))) return "yes";
    // What a search finds below a directory no text tells.
    const { value } = rule.pattern;
    const searched = rule.tool === "Read" ? analysis.steps.flatMap((step) => searchedBy(step, world)) : [];
    return searched.some((directory) => mayLieBelow(value, directory, ground)) ? "maybe" : "no";
  }
  if (rule.tool !== tool) return "no";
  if (rule.pattern.kind === "any") return "yes";
  if (rule.pattern.kind !== "shell") return "no";
  if (analysis.kind === "unread") return "maybe";
  const shell = readPattern(rule.pattern.shell);
  if (shell.kind === "exact" && shell.text === text.trim()) return "yes";
  const found = analysis.commands.map((command) => touchesCommand(shell, command));
  if (found.includes("yes")) return "yes";
  // A variable may be run by what comes later.
  const isAssigned = analysis.steps.some((step) => step.words.length === 0 && mayHide(shell, step));
  return found.includes("maybe") || isAssigned ? "maybe" : "no";
}

/** Whether allow rules and proofs cover all of it. */
function permitOf(
  { text, analysis, world, paths, place }: JudgedCommand,
  { tool, allow, readOnly, edits }: PermitRequest,
): Permit {
  const mine = allow.filter((rule) => rule.tool === tool);
  const blanket = permitAny(tool, mine);
  if (blanket) return blanket;
  if (analysis.kind === "unread") return notUnderstood(analysis.because);
  const meaning = analysis.doubts.find(({ kind }) => kind !== "flow");
  if (meaning) return { kind: "open", because: meaning.text };
  const used: PermissionRule[] = [];
  const patterns = mine.flatMap((rule) =>
    rule.pattern.kind === "shell" ? [{ rule, shell: readPattern(rule.pattern.shell) }] : [],
  );
  const exact = patterns.find(({ shell }) => shell.kind === "exact" && shell.text === text.trim())?.rule;
  const byStep = new Map(analysis.commands.map((found) => [found.step, found]));
  let isProved = true;
  for (const folder of gitPlaces(analysis)) {
    const strange = strangeRepository(place.repository(folder), { folder, world });
    if (strange !== undefined) return { kind: "open", because: strange };
  }
  for (const [at, step] of analysis.steps.entries()) {
    const written = writesUnasked(step, { world, allow, edits, paths });
    if (written !== undefined) return { kind: "open", because: written };
    // Redirections without a command are what they are, whether reading is asked about or not.
    const isBare = step.words.length + step.assignments.length === 0;
    const because =
      isBare || readOnly === "allowed"
        ? whyNotRead(analysis, at, { paths, place })
        : "reading is asked about";
    if (because === undefined) continue;
    const found = byStep.get(step);
    isProved = false;
    const named = found && !takesCode(found) ? exact : undefined;
    const rule = named ?? (found && patterns.find(({ shell }) => coversCommand(shell, found, world))?.rule);
    if (!rule || !found) return { kind: "open", because };
    used.push(rule);
  }
  if (analysis.steps.length === 0) return { kind: "open", because: "there is no command in it" };
  const [rule] = used;
  if (rule) return permitBy(rule);
  const flow = analysis.doubts.find(({ kind }) => kind === "flow");
  if (flow) return { kind: "open", because: flow.text };
  return isProved
    ? { kind: "allowed", by: "read-only", because: "it only reads inside the workspace" }
    : { kind: "open", because: "nothing allows it yet" };
}

/** Why a step is not known to be a harmless read. */
function whyNotRead(
  analysis: Analysis & { kind: "read" },
  at: number,
  { paths, place }: Pick<JudgedCommand, "paths" | "place">,
): string | undefined {
  const proof = analysis.proofs[at];
  if (!proof) return "it was not looked at";
  if (!proof.ok) return proof.because;
  const [concern] = proof.concerns;
  if (concern !== undefined) return concern;
  const away = proof.reads.find((path) => isAway(paths.get(path)));
  if (away !== undefined) return `${away} leads outside`;
  return proof.place.map((demand) => place.unmet(demand)).find((because) => because !== undefined);
}

/** Somebody has looked, and it is not what its name says. */
const isAway = (facts: PathFacts | undefined): boolean =>
  facts !== undefined && (facts.root === undefined || facts.problem !== undefined);

type WriteCase = Pick<JudgedCommand, "world" | "paths"> & {
  allow: readonly PermissionRule[];
  edits: "allow" | "open" | "deny";
};

/** A rule covers words, never where the output goes: that is a write like any other. */
function writesUnasked(step: ShellStep, { world, allow, edits, paths }: WriteCase): string | undefined {
  for (const { target } of writingRedirections(step)) {
    const place = pathScope(target, step.directories, world);
    const because = `it writes to ${target.text}`;
    if (place.kind !== "inside" || target.kind !== "fixed" || target.isProcess) return because;
    const isAllowed = place.paths.every((path) => {
      const facts = paths.get(path);
      if (isAway(facts)) return false;
      const claim: Claim = { action: "write", target: facts?.path ?? path };
      return edits === "allow" || allow.some((rule) => covers(rule, "Write", claim, world));
    });
    if (!isAllowed) return because;
  }
  return undefined;
}

/** Why the question about it may not be skipped by any mode: it writes what others run. */
const protectedWrite = ({ analysis, paths, claims }: JudgedCommand): string | undefined =>
  claims()
    .values()
    .map((claim) => protectedClaim(claim, paths))
    .find((because) => because !== undefined) ?? patternWrite(analysis);

/** A pattern that may give a protected name writes there as far as anybody knows. */
function patternWrite(analysis: Analysis): string | undefined {
  if (analysis.kind === "unread") return undefined;
  const targets = allSteps(analysis.steps, analysis.commands).flatMap(writtenWords);
  return targets
    .filter(({ kind }) => kind !== "fixed")
    .map(({ text }) => ({ text, because: protectedPattern(text) }))
    .filter(({ because }) => because !== undefined)
    .map(({ text, because }) => `${text} may be protected: ${because}`)[0];
}

/** What its words and redirections name as read and written, as far as they are known; each once. */
export function claimsOf(
  analysis: Analysis,
  context: ShellContext,
  paths: ReadonlyMap<string, PathFacts>,
): Claim[] {
  if (analysis.kind === "unread") return [];
  const reads = analysis.proofs.flatMap((proof) => (proof.ok ? proof.reads : []));
  const named = analysis.steps.flatMap((step) => namedPaths(step, context));
  const written = allSteps(analysis.steps, analysis.commands).flatMap((step) => writtenPaths(step, context));
  const claim =
    (action: "read" | "write") =>
    (path: string): Claim[] => {
      const real = paths.get(path)?.path;
      return [path, ...(real === undefined || real === path ? [] : [real])].map((target) => ({
        action,
        target,
      }));
    };
  return [
    ...[...new Set([...reads, ...named])].flatMap(claim("read")),
    ...[...new Set(written)].flatMap(claim("write")),
  ];
}

/** The directories that a command looks through for text. */
function searchedBy(step: ShellStep, context: ShellContext): readonly string[] {
  const { name, rest } = programOf(step);
  const isSearch = searchers.has(name);
  if (!isSearch && !recursive.has(name)) return [];
  if (!isSearch && !rest.some(({ text }) => /^(?:-[a-zA-Z]*[rR]|--(?:dereference-)?recursive$)/.test(text)))
    return [];
  // Without a place it looks where it stands.
  const isBare = rest.filter(({ text }) => !text.startsWith("-")).length < 2;
  return [...namedPaths(step, context), ...(isBare ? (step.directories ?? context.roots) : [])];
}

const searchers = new Set(["rg", "ag", "ack"]);
/** These do so with an option. */
const recursive = new Set(["grep", "egrep", "fgrep", "zgrep", "diff", "cp", "tar", "zip"]);

/** Every word of a command could be a path that it reads. */
function namedPaths(
  { words, redirections, directories }: ShellStep,
  context: ShellContext,
): readonly string[] {
  if (words.length < 2 && redirections.length === 0) return nowhere;
  const inputs = redirections.flatMap(({ operator, target }) =>
    operator === "<" || operator === "<>" ? [target] : [],
  );
  return [...words.slice(1), ...inputs].flatMap((word) =>
    word.kind !== "fixed" || word.text.startsWith("-") ? [] : pathsOf(word, directories, context),
  );
}

/** Where a word leads, as far as its text tells. */
function pathsOf(word: Argument, directories: Directories, context: ShellContext): readonly string[] {
  const place = pathScope(word, directories, context);
  return place.kind === "inside" || place.kind === "outside" ? place.paths : nowhere;
}

const nowhere: readonly string[] = [];

function writtenPaths(step: ShellStep, context: ShellContext): readonly string[] {
  return writtenWords(step).flatMap((target) => pathsOf(target, step.directories, context));
}

function writtenWords(step: ShellStep): readonly Argument[] {
  const { name, rest } = programOf(step);
  const written = writtenTo(name, rest);
  if (written.length + step.redirections.length === 0) return noWords;
  const named = written.flatMap((target) => (typeof target === "string" ? [] : [target]));
  return [...named, ...writingRedirections(step).map(({ target }) => target)];
}

const noWords: readonly Argument[] = [];
