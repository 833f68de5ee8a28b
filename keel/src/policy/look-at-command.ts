/** Reads a command, looks at the paths that it names and at what its patterns find, and hands back its judge. */
import type { FoundName, PathFacts, Workspace } from "../ports/workspace.ts";
import { analyseReading, read, type ShellContext, wantsSecondReader } from "../shell/meaning/analyse.ts";
import { ownSearch } from "../shell/programs/place.ts";
import type { CommandJudge } from "./command-judge.ts";
import { judgeCommand } from "./judge-command.ts";
import { namedPaths, patternsIn } from "./named-paths.ts";
import { demandsOf, lookAtPlace, type PlaceSeen, sayPlace } from "./place-facts.ts";

/** Paths of one command that are looked at. One that names more is asked about. */
const maxPaths = 100;
/** Patterns of one command that are looked at; more find what cannot be told. */
const maxPatterns = 20;

export type CommandLook = {
  readonly workspace: Workspace;
  readonly world: ShellContext;
  readonly paths: Map<string, PathFacts>;
  readonly found: Map<string, readonly FoundName[]>;
  /** Gets what was seen of the place. */
  readonly places: PlaceSeen[];
  /** Gets the question whether the places that commands run in are what they were. */
  readonly again: (() => Promise<boolean>)[];
  /** Whether rules about paths ask for what words may name beside what they do name. */
  readonly possible: "looked at" | "left";
};

export async function lookAtCommand(text: string, look: CommandLook): Promise<CommandJudge> {
  const { workspace, paths, found } = look;
  const world = { ...look.world, search: await workspace.commands?.place.search() };
  const reading = read(text);
  const tree = wantsSecondReader(reading) ? await workspace.commands?.grammar.parse(text) : undefined;
  const analysis = analyseReading(reading, world, tree);
  if (analysis.kind === "unread") return judgeCommand({ text, analysis, world, paths, found });
  const demands = demandsOf(analysis);
  const lookThere = () => lookAtPlace(demands.slice(0, maxPaths), workspace.commands?.place);
  const { facts: place, seen } = await lookThere();
  look.places.push({ ...seen, search: ownSearch(world) });
  const before = sayPlace(place, demands);
  if (demands.length > 0)
    look.again.push(async () => sayPlace((await lookThere()).facts, demands) === before);
  for (const pattern of patternsIn(analysis).slice(0, maxPatterns)) {
    const names = await workspace.files.expand(pattern);
    if (names) found.set(pattern, names);
  }
  const { reads, writes, possible } = namedPaths(analysis, world, { paths, found });
  const plain = new Set(
    found.values().flatMap((names) => names.filter(({ isPlain }) => isPlain).map(({ path }) => path)),
  );
  const named = [...new Set([...reads, ...writes])].filter((path) => !plain.has(path));
  const hasMore = Math.max(named.length, demands.length) > maxPaths;
  const mayBe = look.possible === "looked at" ? possible.filter((path) => !plain.has(path)) : [];
  for (const path of new Set([...named, ...mayBe].slice(0, maxPaths)))
    paths.set(path, await workspace.files.describe(path));
  if (!hasMore) return judgeCommand({ text, analysis, world, paths, found, place });
  const doubt = { kind: "meaning", text: `it names more than ${maxPaths} paths` } as const;
  const doubted = { ...analysis, doubts: [...analysis.doubts, doubt] };
  return judgeCommand({ text, analysis: doubted, world, paths, found, place, hasMore });
}
