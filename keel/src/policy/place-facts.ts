/**
 * What is known of the place where a command would run: whether the programs that it names are what their names say, and
 * whose repository git would find. A proof holds for a place only as it is at the moment of the decision.
 */
import { isInside, normalise } from "../kernel/path.ts";
import type { CommandPlace, RepositoryFinding } from "../ports/shell.ts";
import type { Analysis, ShellContext } from "../shell/meaning/analyse.ts";
import { programOf } from "../shell/meaning/inside.ts";
import { gitDirectories } from "../shell/programs/git.ts";
import { gitWords } from "../shell/programs/git-words.ts";
import type { PlaceDemand } from "../shell/programs/outcome.ts";
import type { ownSearch } from "../shell/programs/place.ts";

export interface PlaceFacts {
  /** Why a demand does not hold; undefined when it does. */
  unmet(demand: PlaceDemand): string | undefined;
  repository(folder: string): RepositoryFinding | "unknown";
}

/** Everything of the place that a command's proofs and rules rest on, each once. */
export function demandsOf(analysis: Analysis): PlaceDemand[] {
  if (analysis.kind === "unread") return [];
  const proved = analysis.proofs.flatMap((proof) => (proof.ok ? proof.place : []));
  const used = gitPlaces(analysis).map((folder): PlaceDemand => ({ kind: "repository", folder }));
  return [...new Map([...proved, ...used].map((demand) => [keyOf(demand), demand])).values()];
}

/** Where a command runs git, as far as its text tells. */
export function gitPlaces(analysis: Analysis & { kind: "read" }): string[] {
  const places = analysis.allSteps.flatMap((step) => {
    const { name, rest } = programOf(step);
    return name === "git" ? (gitDirectories(gitWords(rest).before, step.directories) ?? []) : [];
  });
  return [...new Set(places.map(normalise))];
}

/** What a look found: how much was looked at, which names stood there, and whose repositories. */
export type PlaceSeen = {
  readonly demands: number;
  readonly marks: readonly string[];
  readonly repositories: ReadonlyMap<string, RepositoryFinding>;
  readonly search: ReturnType<typeof ownSearch>;
};

/** The place as it was seen before: a name that is not among the marks did not stand there. */
export function placeSeen(
  { marks, repositories }: Pick<PlaceSeen, "marks" | "repositories">,
  demands: readonly PlaceDemand[],
): PlaceFacts {
  const found = new Map<string, string | undefined>();
  for (const demand of demands) {
    if (demand.kind === "repository") continue;
    const { folder, names, reach } = demand;
    const stands = (mark: string): boolean => {
      const above = mark.slice(0, mark.lastIndexOf("/")) || "/";
      const isThere = reach === "up" ? isInside(normalise(folder), [above]) : normalise(folder) === above;
      return isThere && names.includes(mark.slice(mark.lastIndexOf("/") + 1));
    };
    found.set(keyOf(demand), marks.find(stands));
  }
  return factsOf(found, repositories);
}

/** Looks once at each; what was not looked at is unknown, and does not hold. */
export async function lookAtPlace(
  demands: readonly PlaceDemand[],
  place: CommandPlace | undefined,
): Promise<{ readonly facts: PlaceFacts; readonly seen: Omit<PlaceSeen, "search"> }> {
  const found = new Map<string, string | undefined>();
  const repositories = new Map<string, RepositoryFinding>();
  for (const demand of place ? demands : []) {
    if (demand.kind === "repository") {
      const folder = normalise(demand.folder);
      const finding = await place?.repository(folder);
      if (finding) repositories.set(folder, finding);
    } else found.set(keyOf(demand), await place?.find(normalise(demand.folder), demand.names, demand.reach));
  }
  const marks = [...found.values()].filter((mark) => mark !== undefined);
  const seen = { demands: found.size + repositories.size, marks, repositories };
  return { facts: factsOf(found, repositories), seen };
}

function factsOf(
  found: ReadonlyMap<string, string | undefined>,
  repositories: ReadonlyMap<string, RepositoryFinding>,
): PlaceFacts {
  const repository: PlaceFacts["repository"] = (folder) => repositories.get(normalise(folder)) ?? "unknown";
  return {
    repository,
    unmet: (demand) => {
      if (demand.kind === "repository") return whyNotOwn(repository(demand.folder));
      const key = keyOf(demand);
      if (!found.has(key)) return "nobody has looked at the place";
      const mark = found.get(key);
      return mark === undefined ? undefined : `${demand.because} (${mark})`;
    },
  };
}

/** What was found there, in a form in which two looks can be compared. */
export const sayPlace = (place: PlaceFacts, demands: readonly PlaceDemand[]): string =>
  JSON.stringify(
    demands.map((demand) =>
      demand.kind === "repository" ? place.repository(demand.folder) : (place.unmet(demand) ?? null),
    ),
  );

/** By text alone a folder brings nothing, and the repository is that of the first root. */
export function placeByText({ roots }: Pick<ShellContext, "roots">): PlaceFacts {
  const top = normalise(roots[0] ?? "/");
  const repository: PlaceFacts["repository"] = (folder) =>
    normalise(folder) === top ? { kind: "own" } : "unknown";
  return {
    repository,
    unmet: (demand) => (demand.kind === "repository" ? whyNotOwn(repository(demand.folder)) : undefined),
  };
}

function whyNotOwn(finding: RepositoryFinding | "unknown"): string | undefined {
  if (finding === "unknown") return "git may use the settings of another repository";
  return finding.kind === "none" || finding.kind === "own" ? undefined : sayStrange(finding);
}

/**
 * Why not even a rule about git covers a run there: below the project's own folder every other repository was put there
 * by somebody, and a planted one is none that a rule can have meant. In a further root the person named it.
 */
export function strangeRepository(
  finding: RepositoryFinding | "unknown",
  { folder, world }: { folder: string; world: Pick<ShellContext, "roots"> },
): string | undefined {
  if (finding === "unknown" || finding.kind === "none" || finding.kind === "own") return undefined;
  return finding.kind === "planted" || isInside(folder, world.roots.slice(0, 1))
    ? sayStrange(finding)
    : undefined;
}

const sayStrange = ({ mark }: { readonly mark: string }): string =>
  `git would use the settings of another repository, found by ${mark}`;

const keyOf = (demand: PlaceDemand): string =>
  demand.kind === "repository"
    ? `repository\0${normalise(demand.folder)}`
    : [demand.kind, demand.reach, normalise(demand.folder), ...demand.names].join("\0");
