/** Reads a command, looks at the paths that it names, and hands back its judge. */
import type { PathFacts, Workspace } from "../ports/workspace.ts";
import {
  type Analysis,
  analyseReading,
  read,
  type ShellContext,
  wantsSecondReader,
} from "../shell/meaning/analyse.ts";
import { ownSearch } from "../shell/programs/place.ts";
import type { CommandJudge } from "./command-judge.ts";
import { claimsOf, judgeCommand } from "./judge-command.ts";
import { demandsOf, lookAtPlace, type PlaceSeen } from "./place-facts.ts";

/** Paths of one command that are looked at. One that names more is asked about. */
const maxPaths = 100;

export async function lookAtCommand(
  text: string,
  given: {
    workspace: Workspace;
    world: ShellContext;
    paths: Map<string, PathFacts>;
    /** Gets what was seen of the place. */
    places: PlaceSeen[];
  },
): Promise<CommandJudge> {
  const { workspace, paths } = given;
  const world = { ...given.world, search: await workspace.commands?.place.search() };
  const reading = read(text);
  const tree = wantsSecondReader(reading) ? await workspace.commands?.grammar.parse(text) : undefined;
  const analysis = analyseReading(reading, world, tree);
  const demands = demandsOf(analysis);
  const looked = await lookAtPlace(demands.slice(0, maxPaths), workspace.commands?.place);
  given.places.push({ ...looked.seen, search: ownSearch(world) });
  const judged = (found: Analysis): CommandJudge =>
    judgeCommand({ text, analysis: found, world, paths, place: looked.facts });
  if (analysis.kind === "unread") return judged(analysis);
  const named = new Set(claimsOf(analysis, world, paths).map(({ target }) => target));
  for (const path of [...named].slice(0, maxPaths)) paths.set(path, await workspace.files.describe(path));
  if (Math.max(named.size, demands.length) <= maxPaths) return judged(analysis);
  const doubt = { kind: "meaning", text: `it names more than ${maxPaths} paths` } as const;
  return judged({ ...analysis, doubts: [...analysis.doubts, doubt] });
}
