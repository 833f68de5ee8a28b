/**
 * What would have been decided under other rules about a call that is on record: from the facts that the decision left,
 * and the text of the call. Nothing of the world is looked at; where the facts are not enough, that is said.
 */
import type { Json } from "../kernel/json.ts";
import { isInside } from "../kernel/path.ts";
import { carefulTraits } from "../ports/define-tool.ts";
import type { Grammar, RepositoryFinding } from "../ports/shell.ts";
import type { FoundName, PathFacts } from "../ports/workspace.ts";
import type { RecordedDecision } from "../protocol/recorded-decisions.ts";
import type { PermissionMode } from "../protocol/settings.ts";
import type { Claim } from "../protocol/tool.ts";
import type { PathFound, VerdictFacts } from "../protocol/verdict-facts.ts";
import {
  type Analysis,
  analyseReading,
  read,
  type ShellContext,
  wantsSecondReader,
} from "../shell/meaning/analyse.ts";
import { searchOf } from "../shell/programs/place.ts";
import type { CommandJudge } from "./command-judge.ts";
import { type Decision, decide, type Rules } from "./decide.ts";
import { judgeCommand } from "./judge-command.ts";
import { hasPaths } from "./look.ts";
import { namedPaths, patternsIn } from "./named-paths.ts";
import { demandsOf, type PlaceSeen, placeSeen } from "./place-facts.ts";
import type { PermissionRule } from "./rules.ts";

export type DecidedAgain =
  | Decision
  /** The facts on record do not tell. */
  | { readonly verdict: "unknown"; readonly because: string };

export type OtherWays = {
  readonly rules: Rules;
  /** The recorded one when left out. */
  readonly mode?: PermissionMode | undefined;
};

/** A call as it was looked at then: any rules can be laid over it. */
export type CallOnRecord = {
  /** What it was about, as it was claimed. Empty where that is not known. */
  readonly claims: readonly Claim[];
  under(other: OtherWays): DecidedAgain;
  /** As `CommandJudge` has it, for all commands of the call. */
  kindsUnder(rule: PermissionRule): readonly string[] | undefined;
};

export type PastCall = {
  readonly session: string;
  readonly decision: RecordedDecision;
  readonly call: CallOnRecord;
  /**
   * The rules that would hold for it: those that are tried, and those of the session itself. More than one where the
   * log does not tell which of them it was.
   */
  readonly rules: readonly Rules[];
};

export async function decideAgain(
  recorded: RecordedDecision,
  { grammar, ...other }: OtherWays & { readonly grammar: Grammar },
): Promise<DecidedAgain> {
  return (await callOnRecord(recorded, grammar)).under(other);
}

export async function callOnRecord(
  { tool, input, facts }: RecordedDecision,
  grammar: Grammar,
): Promise<CallOnRecord> {
  if (!facts) return unknownCall("the log does not say what the decision rested on");
  const claims = wholeClaims(facts, input);
  const world = worldOf(facts);
  if (!claims || !world) return unknownCall("what was claimed is not on record as a whole");
  if (facts.morePaths !== undefined || facts.paths?.some(({ cut }) => cut))
    return unknownCall("not all that was looked at is on record");
  const paths = pathsOf(facts, world);
  const commands = new Map<string, CommandJudge>();
  let isUnseen = false;
  for (const { action, target } of claims) {
    if (action !== "execute") continue;
    const reading = read(target);
    const tree = wantsSecondReader(reading) ? await grammar.parse(target) : undefined;
    const analysis = analyseReading(reading, world, tree);
    const demands = demandsOf(analysis);
    // What was not asked of the place then, or is not on record, nobody knows now.
    if (demands.length !== (facts.place?.demands ?? 0))
      return unknownCall("what was seen of the place is not on record");
    const found = foundIn(facts, { analysis, paths });
    if (!found) return unknownCall("what its patterns stood for is not on record");
    if (analysis.kind === "read") {
      const { possible } = namedPaths(analysis, world, { paths, found });
      const plain = new Set(facts.expanded);
      isUnseen ||= possible.some((path) => !paths.has(path) && !plain.has(path));
    }
    const place = placeSeen(seenIn(facts), demands);
    commands.set(target, judgeCommand({ text: target, analysis, world, paths, found, place }));
  }
  return {
    claims,
    under({ rules, mode = facts.mode }) {
      // What words may name beside what they do was looked at only where a rule about paths asked for it.
      if (isUnseen && hasPaths(rules)) return unknown("what its words may name was not looked at then");
      const traits = { ...carefulTraits, readOnly: facts.readOnly ?? false };
      const held = { protectedPaths: facts.protectedPaths, ...rules };
      return decide({
        tool,
        claims,
        traits,
        mode,
        rules: held,
        paths,
        commands,
        world,
        planFile: facts.planFile,
        confined: new Set(facts.confined ? commands.keys() : []),
      });
    },
    kindsUnder(rule) {
      const kinds = [...commands.values()].map((command) => command.kindsUnder(rule, tool));
      return kinds.includes(undefined) ? undefined : kinds.flatMap((each) => each ?? []);
    },
  };
}

/**
 * Names are on record without their pattern: those of one can be told, and of several where it says which each stood for
 * and no other command had any. Which of them needed a second look is told by the paths.
 */
function foundIn(
  { expanded, moreExpanded, expandedEach, claims }: VerdictFacts,
  { analysis, paths }: { analysis: Analysis; paths: ReadonlyMap<string, PathFacts> },
): ReadonlyMap<string, readonly FoundName[]> | undefined {
  const patterns = analysis.kind === "read" ? patternsIn(analysis) : [];
  if (patterns.length === 0) return new Map();
  const isAlone = claims.filter(({ action }) => action === "execute").length === 1;
  const each = expandedEach ? (isAlone ? expandedEach : []) : [expanded?.map((_, at) => at)];
  if (!expanded || moreExpanded !== undefined || each.length !== patterns.length) return undefined;
  return new Map(
    patterns.map((pattern, at) => {
      const names = (each[at] ?? []).map((place) => expanded[place] ?? "");
      return [pattern, names.map((path) => ({ path, isPlain: !paths.has(path) }))];
    }),
  );
}

const unknown = (because: string): DecidedAgain => ({ verdict: "unknown", because });

const unknownCall = (because: string): CallOnRecord => ({
  claims: [],
  under: () => unknown(because),
  kindsUnder: () => undefined,
});

/** A command that was too long for the facts stands whole in the call's input; a path that was has lost its end. */
function wholeClaims({ claims, moreClaims }: VerdictFacts, input: Json): Claim[] | undefined {
  if (moreClaims !== undefined) return undefined;
  const whole: Claim[] = [];
  for (const { action, target, cut, unsandboxed } of claims) {
    const text = cut ? (action === "execute" ? textIn(input, target) : undefined) : target;
    if (text === undefined) return undefined;
    whole.push({ action, target: text, ...(unsandboxed ? { outside: true } : {}) });
  }
  return whole;
}

function textIn(input: Json, start: string): string | undefined {
  const values = typeof input === "object" && input !== null ? Object.values(input) : [];
  return values.find((value) => typeof value === "string" && value.startsWith(start)) as string | undefined;
}

function worldOf({ cwd, home, roots, trust, place }: VerdictFacts): ShellContext | undefined {
  if (cwd === undefined || home === undefined) return undefined;
  const search = searchOf({ folders: place?.searched ?? [], variables: place?.variables ?? [] });
  return { cwd, home, roots: roots ?? [cwd], isTrusted: trust === "trusted", search };
}

function seenIn({ place }: VerdictFacts): Pick<PlaceSeen, "marks" | "repositories"> {
  const repositories = (place?.repositories ?? []).map(({ folder, kind, mark = "" }) => {
    const finding: RepositoryFinding = kind === "none" || kind === "own" ? { kind } : { kind, mark };
    return [folder, finding] as const;
  });
  return { marks: place?.marks ?? [], repositories: new Map(repositories) };
}

function pathsOf({ claims, paths = [] }: VerdictFacts, world: ShellContext): Map<string, PathFacts> {
  const claimed = claims.filter(({ action }) => action === "read" || action === "write");
  return new Map([
    ...claimed.map(({ target, ...found }) => [target, pathFacts({ ...found, path: target }, world)] as const),
    ...paths.map((found) => [found.path, pathFacts(found, world)] as const),
  ]);
}

function pathFacts(found: PathFound, { roots }: ShellContext): PathFacts {
  const { path, leadsTo = path, links = [], missing, outside, own, problem } = found;
  return {
    path: leadsTo,
    exists: !missing,
    kind: missing ? "missing" : "file",
    root: outside ? undefined : (roots.find((root) => isInside(leadsTo, [root])) ?? roots[0] ?? "/"),
    links: links.length > 0,
    passed: links,
    own,
    problem,
  };
}
