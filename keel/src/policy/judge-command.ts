/** What rules, proofs and facts about paths say of one command: a verdict for each question that policy has. */

import { once } from "../kernel/once.ts";
import { isInside } from "../kernel/path.ts";
import type { PathFacts } from "../ports/workspace.ts";
import type { Claim } from "../protocol/tool.ts";
import { familyOf } from "../protocol/tool-families.ts";
import { type Analysis, onlyReads, type ShellContext } from "../shell/meaning/analyse.ts";
import { writingRedirections } from "../shell/meaning/effects.ts";
import { takesCode } from "../shell/meaning/hazards.ts";
import { programOf } from "../shell/meaning/inside.ts";
import { isSecret, pathScope } from "../shell/meaning/path-scope.ts";
import type { PatternUse } from "../shell/meaning/prove.ts";
import type { ShellStep } from "../shell/meaning/walk.ts";
import {
  type CommandJudge,
  isForCommands,
  notUnderstood,
  type Permit,
  type PermitRequest,
  permitAny,
  permitBy,
  type Touch,
} from "./command-judge.ts";
import { type DeniedCommand, deniedCommand } from "./denied-command.ts";
import { mayHide, namedPrograms } from "./hidden-command.ts";
import {
  type Looked,
  type NamedPaths,
  namedPaths,
  type ReadAnalysis,
  rearrangesFiles,
  writtenWords,
} from "./named-paths.ts";
import { changesKeel } from "./own-commands.ts";
import { type GroundedPaths, groundedPaths } from "./path-rules.ts";
import { gitPlaces, type PlaceFacts, placeByText, strangeRepository } from "./place-facts.ts";
import { ownClaim, protectedClaim, protectedPattern } from "./protected.ts";
import { readPattern } from "./read-pattern.ts";
import { covers, type Pattern, type PermissionRule, toucher } from "./rules.ts";
import { coversCommand, otherSpelling, touchesCommand } from "./shell-rules.ts";
import { commandRule, kindRule } from "./suggest-command.ts";

/** A command that was read, as its judge: its text, and what was found in it. */
export function judgeCommand(
  read: Omit<JudgedCommand, "names" | "claims" | "place" | "programs"> & { place?: PlaceFacts },
): CommandJudge {
  const { text, analysis, world, paths } = read;
  // What is found out about a command is found out once, however many rules ask.
  const names = once(() => (analysis.kind === "read" ? namedPaths(analysis, world, read) : namesNothing));
  const command: JudgedCommand = {
    place: placeByText(world),
    ...read,
    names,
    claims: once(() => claimsOf(names(), paths)),
    programs: once(() =>
      analysis.kind === "unread" ? undefined : namedPrograms(analysis.commands, analysis.steps),
    ),
  };
  return {
    touch: (rule, tool) => touchOf(rule, tool, command),
    spelling: (rule) => spellingOf(rule, analysis),
    permit: (request) => permitOf(command, request),
    protectedWrite: once(() => protectedWrite(command)),
    ownRead: once(() => ownRead(command)),
    onlyReads: () => onlyReads(analysis),
    grave: () => graveReason(command),
    suggest: (tool) => commandRule(tool, text, analysis, world),
    kindsUnder: (rule, tool) => kindsUnder(rule, tool, command),
  };
}

const namesNothing: NamedPaths = { reads: [], writes: [], possible: [], trees: [], isOpen: false };

type JudgedCommand = Looked & {
  readonly text: string;
  readonly analysis: Analysis;
  readonly world: ShellContext;
  /** It names more than was looked at. */
  readonly hasMore?: boolean | undefined;
  /** The paths that it names, at every depth of what it runs. */
  names(): NamedPaths;
  readonly place: PlaceFacts;
  /** What it names as read and written. */
  claims(): readonly Claim[];
  /** The programs that it names; undefined where only the run knows. */
  programs(): ReadonlySet<string> | undefined;
};

/** How a deny or ask rule about a path stands to it. */
function touchOfPath(
  rule: PermissionRule,
  tool: string,
  { mayLieBelow }: GroundedPaths,
  { analysis, world, paths, names, claims, hasMore }: JudgedCommand,
): Touch {
  if (analysis.kind === "unread") return "maybe";
  const isTouched = toucher(rule, tool, world);
  if (claims().some(isTouched)) return "yes";
  const isRead = familyOf(rule.tool) === "reads";
  const { reads, writes, possible, trees, isOpen } = names();
  const action = isRead ? "read" : "write";
  if (hasMore || (isRead && isOpen)) return "maybe";
  // Behind a link into a process lies what is in place when that process runs.
  const named = [...(isRead ? reads : writes), ...possible];
  if (named.some((path) => paths.get(path)?.path.startsWith("/proc/"))) return "maybe";
  if (possible.some((path) => waysOf(path, paths).some((target) => isTouched({ action, target }))))
    return "maybe";
  if (!isRead) return "no";
  // What lies below a directory no text tells.
  const isBelow = (path: string): boolean =>
    paths.get(path)?.kind !== "file" && waysOf(path, paths).some(mayLieBelow);
  return trees.some(isBelow) ? "maybe" : "no";
}

/** How a deny or ask rule stands to it. */
function touchOf(rule: PermissionRule, tool: string, command: JudgedCommand): Touch {
  const { text, analysis, programs, world } = command;
  if (rule.pattern.kind === "path")
    return touchOfPath(rule, tool, groundedPaths(rule.pattern, world), command);
  if (!isForCommands(rule.tool, tool)) return "no";
  if (rule.pattern.kind === "any") return "yes";
  if (rule.pattern.kind !== "shell") return "no";
  if (analysis.kind === "unread") return "maybe";
  const denied = deniedBy(rule.pattern);
  const { pattern, program } = denied;
  if (pattern.kind === "exact" && pattern.text === text.trim()) return "yes";
  if (program !== undefined && programs()?.has(program) === false) return "no";
  const found = analysis.commands.map((command) => touchesCommand(denied, command));
  if (found.includes("yes")) return "yes";
  // A variable may be run by what comes later.
  const isAssigned = analysis.steps.some((step) => step.words.length === 0 && mayHide(denied, step));
  return found.includes("maybe") || isAssigned ? "maybe" : "no";
}

const deniedBy = ({ shell, denied }: Pattern & { kind: "shell" }): DeniedCommand =>
  denied.of(() => deniedCommand(readPattern(shell)));

/** The words that a rule is about, where they are others than those of the rule. */
const spellingOf = ({ pattern }: PermissionRule, analysis: Analysis): string | undefined =>
  pattern.kind === "shell" && analysis.kind === "read"
    ? otherSpelling(deniedBy(pattern), analysis.commands)
    : undefined;

/** Whether allow rules and proofs cover all of it. */
function permitOf(
  { text, analysis, world, paths, found: names, place }: JudgedCommand,
  { tool, allow, readOnly, edits }: PermitRequest,
): Permit {
  const mine = allow.filter(
    (rule) => rule.tool === tool || (rule.tool === "Bash" && isForCommands(rule.tool, tool)),
  );
  const blanket = permitAny(tool, mine);
  if (blanket) return blanket;
  if (analysis.kind === "unread") return notUnderstood(analysis.because);
  const meaning = analysis.doubts.find(({ kind }) => kind !== "flow");
  if (meaning) return { kind: "open", because: meaning.text };
  const used: PermissionRule[] = [];
  const writing: PermissionRule[] = [];
  const patterns = mine.flatMap((rule) =>
    rule.pattern.kind === "shell" ? [{ rule, shell: readPattern(rule.pattern.shell) }] : [],
  );
  const exact = patterns.find(({ shell }) => shell.kind === "exact" && shell.text === text.trim())?.rule;
  const byStep = new Map(analysis.commands.map((found) => [found.step, found]));
  let isProved = true;
  const isMoved = analysis.steps.length > 1 && rearrangesFiles(analysis);
  for (const folder of gitPlaces(analysis)) {
    const strange = strangeRepository(place.repository(folder), { folder, world });
    if (strange !== undefined) return { kind: "open", because: strange };
  }
  for (const [at, step] of analysis.steps.entries()) {
    const written = writesUnasked(step, { world, allow, edits, paths, writing });
    if (written !== undefined) return { kind: "open", because: written };
    // Redirections without a command are what they are, whether reading is asked about or not.
    const isBare = step.words.length + step.assignments.length === 0;
    const because =
      isBare || readOnly === "allowed"
        ? whyNotRead(analysis, at, { paths, found: names, isMoved, place })
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
  const [rule, ...others] = used;
  if (rule) return permitBy(rule, ...others, ...writing);
  const flow = analysis.doubts.find(({ kind }) => kind === "flow");
  if (flow) return { kind: "open", because: flow.text };
  return isProved
    ? { kind: "allowed", by: "read-only", because: "it only reads inside the workspace", rules: writing }
    : { kind: "open", because: "nothing allows it yet" };
}

function kindsUnder(
  { pattern }: PermissionRule,
  tool: string,
  { analysis, world }: JudgedCommand,
): readonly string[] | undefined {
  if (analysis.kind === "unread") return undefined;
  const shell = pattern.kind === "shell" ? readPattern(pattern.shell) : undefined;
  const covered = analysis.commands.filter((command) => {
    const proof = analysis.proofs[analysis.steps.indexOf(command.step)];
    const isProved = proof?.ok === true && proof.concerns.length === 0;
    return shell ? coversCommand(shell, command, world) : !isProved;
  });
  const kinds = covered.map((command) => kindRule(tool, command, world));
  return kinds.includes(undefined) ? undefined : kinds.filter((kind) => kind !== undefined);
}

/** Why a step is not known to be a harmless read. */
function whyNotRead(
  analysis: ReadAnalysis,
  at: number,
  { paths, found, isMoved, place }: Looked & { isMoved: boolean; place: PlaceFacts },
): string | undefined {
  const proof = analysis.proofs[at];
  if (!proof) return "it was not looked at";
  if (!proof.ok) return proof.because;
  const [concern] = proof.concerns;
  if (concern !== undefined) return concern;
  if (isMoved && proof.reads.length > 0) return "files may be moved before it reads them";
  const away = proof.reads.find((path) => isAway(paths.get(path)));
  if (away !== undefined) return `${away} leads outside`;
  const secret = proof.shown.find((path) => leadsToSecret(paths.get(path)));
  if (secret !== undefined) return `${secret} leads to what may hold a secret`;
  const folder = proof.files.find((path) => paths.get(path)?.kind === "directory");
  if (folder !== undefined) return `links in ${folder} would be followed`;
  const unmet = firstReason(proof.place, (demand) => place.unmet(demand));
  if (unmet !== undefined) return unmet;
  return found && firstReason(proof.patterns, (use) => whyNotFound(use, { paths, found }));
}

/** Why what a pattern finds is not read without a question: each name counts as if it had been written. */
function whyNotFound({ pattern, shows }: PatternUse, { paths, found }: Looked): string | undefined {
  const names = found?.get(pattern);
  if (!names) return `only the run knows what ${pattern} finds`;
  return firstReason(names, ({ path }) => {
    const facts = paths.get(path);
    if (isAway(facts)) return `${path} leads outside`;
    return shows === "contents" && (isSecret(path) || leadsToSecret(facts))
      ? `${path} may hold a secret`
      : undefined;
  });
}

function firstReason<T>(list: readonly T[], why: (item: T) => string | undefined): string | undefined {
  for (const item of list) {
    const because = why(item);
    if (because !== undefined) return because;
  }
  return undefined;
}

const leadsToSecret = (facts: PathFacts | undefined): boolean =>
  facts?.links === true && isSecret(facts.path);

/** Somebody has looked, and it is not what its name says. */
const isAway = (facts: PathFacts | undefined): boolean =>
  facts !== undefined && (facts.root === undefined || facts.problem !== undefined);

type WriteCase = Pick<JudgedCommand, "world" | "paths"> & {
  allow: readonly PermissionRule[];
  edits: "allow" | "open" | "deny";
  /** Takes the rules by which it may write. */
  writing: PermissionRule[];
};

/** A rule covers words, never where the output goes: that is a write like any other. */
function writesUnasked(
  step: ShellStep,
  { world, allow, edits, paths, writing }: WriteCase,
): string | undefined {
  for (const { target } of writingRedirections(step)) {
    const place = pathScope(target, step.directories, world);
    const because = `it writes to ${target.text}`;
    if (place.kind !== "inside" || target.kind !== "fixed" || target.isProcess) return because;
    const isAllowed = place.paths.every((path) => {
      const facts = paths.get(path);
      if (isAway(facts)) return false;
      const claim: Claim = { action: "write", target: facts?.path ?? path };
      if (edits === "allow") return true;
      const rule = allow.find((each) => covers(each, "Write", claim, world));
      if (rule) writing.push(rule);
      return rule !== undefined;
    });
    if (!isAllowed) return because;
  }
  return undefined;
}

/** Why the question about it may not be skipped by any mode: it writes what others run, or changes what Keel lets run. */
const protectedWrite = ({ text, paths, claims, analysis }: JudgedCommand): string | undefined =>
  changesKeel(text, analysis) ??
  claims()
    .values()
    .map((claim) => protectedClaim(claim, paths) ?? namedInto(claim, { analysis, paths }))
    .find((because) => because !== undefined) ??
  patternWrite(analysis);

/** What no opinion but a person's is enough for. */
function graveReason({ analysis, names, paths }: JudgedCommand): string | undefined {
  if (analysis.kind === "unread") return analysis.because;
  const { destructive, writesOutside } = analysis.effects();
  if (destructive) return "it destroys";
  if (writesOutside) return "it writes outside of the workspace";
  const { reads, writes, possible } = names();
  const away = [...reads, ...writes, ...possible].find((path) => isAway(paths.get(path)));
  return away === undefined ? undefined : `${away} leads outside`;
}

/** A pattern that may give a protected name writes there as far as anybody knows. */
function patternWrite(analysis: Analysis): string | undefined {
  if (analysis.kind === "unread") return undefined;
  const targets = analysis.allSteps.flatMap(writtenWords);
  return targets
    .filter(({ kind }) => kind !== "fixed")
    .map(({ text }) => ({ text, because: protectedPattern(text) }))
    .filter(({ because }) => because !== undefined)
    .map(({ text, because }) => `${text} may be protected: ${because}`)[0];
}

/** These put something into a directory under a name that their other words have, or move a directory away. */
const placers = new Set(["cp", "mv", "ln", "install", "rsync"]);

function namedInto(
  { action, target }: Claim,
  { analysis, paths }: Pick<JudgedCommand, "analysis" | "paths">,
): string | undefined {
  const by = action === "write" ? paths.get(target)?.namedBelow : undefined;
  if (by === undefined || analysis.kind === "unread") return undefined;
  const steps = analysis.allSteps;
  return steps.some((step) => placers.has(programOf(step).name))
    ? `below ${target} is what ${by} names`
    : undefined;
}

/** What of Keel's own it reads: what its words lead to, and what a search below a directory would find. */
function ownRead({ analysis, world, paths, claims, names }: JudgedCommand): string | undefined {
  const { own = [] } = world;
  if (analysis.kind === "unread" || own.length === 0) return undefined;
  const read = claims().find((claim) => ownClaim(claim, paths) !== undefined);
  if (read) return ownClaim(read, paths);
  const searched = names().trees.flatMap((path) => waysOf(path, paths));
  const above = searched.find((directory) => own.some((folder) => isInside(folder, [directory])));
  return above === undefined ? undefined : `Keel's own files are below ${above}, where it searches`;
}

/** What its words and redirections name as read and written, by these names and by where they lead; each once. */
function claimsOf({ reads, writes }: NamedPaths, paths: ReadonlyMap<string, PathFacts>): Claim[] {
  const claims =
    (action: "read" | "write") =>
    (path: string): Claim[] =>
      waysOf(path, paths).map((target) => ({ action, target }));
  return [...reads.flatMap(claims("read")), ...writes.flatMap(claims("write"))];
}

/** A path, every link that leads to its end, and that end. */
function waysOf(path: string, paths: ReadonlyMap<string, PathFacts>): readonly string[] {
  const facts = paths.get(path);
  if (!facts || (!facts.links && facts.path === path)) return [path];
  return [...new Set([path, facts.path, ...(facts.passed ?? [])])];
}
