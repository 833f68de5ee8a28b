/** The settings in force for a folder: all sources read, held against trust, and joined, with where each value came from. */
import { type Fault, fault } from "../../kernel/fault.ts";
import { entriesOf, type JudgedEntry, joinEntries, judgeEntries } from "./entries.ts";
import { type Layer, type LayersOptions, readLayers, sources } from "./layers.ts";
import { type Gate, offersIn, whyNot } from "./project-gate.ts";
import { findProject, type Project } from "./project-root.ts";
import type { KeelSettings } from "./settings-schema.ts";
import { readTrust } from "./trust.ts";

/** To name a source of `chosen` is to trust it. */
export type LoadSettingsOptions = Omit<LayersOptions, "project"> & {
  readonly cwd: string;
  /** What the options of the command line say, as settings. */
  readonly commandLine?: KeelSettings | undefined;
  /** What the program around Keel forbids; of it only what makes things stricter counts. */
  readonly forbidden?: Record<string, unknown> | undefined;
};

export type LoadedSettings = {
  readonly settings: KeelSettings;
  /** Every value of every source; the strongest first. */
  readonly entries: readonly JudgedEntry[];
  readonly trust: TrustFacts;
  /** What could not be read, for a person. */
  readonly faults: readonly Fault[];
  /** Whether all that an administrator says was understood. */
  readonly managed: "whole" | "damaged";
};

export type TrustFacts = Project & {
  /** `session`: not in the book, but named for this session. */
  readonly state: "trusted" | "session" | "untrusted";
  /** What waits for trust. */
  readonly waiting: readonly JudgedEntry[];
  /** The marks of what was shown when the project was trusted. */
  readonly shown: ReadonlySet<string>;
};

/** Throws `usage` for flags that name no file, and `settings_invalid` for an administrator's file that is damaged. */
export async function loadSettings({
  paths,
  cwd,
  chosen,
  flags,
  commandLine,
  forbidden,
}: LoadSettingsOptions): Promise<LoadedSettings> {
  const project = findProject(cwd);
  const [read, book] = await Promise.all([
    readLayers({ paths, project, chosen, flags }),
    readTrust(paths.trust),
  ]);
  const layers = inOrder([
    ...read.layers,
    ...(commandLine ? [{ source: "command-line" as const, settings: commandLine }] : []),
    ...(forbidden ? [await strictLayer(forbidden)] : []),
  ]);
  const all = entriesOf(layers);
  const shown = shownIn(book.book.get(project.root)?.shown);
  // Only what was trusted can have changed since.
  const marks = shown && (await import("./program-marks.ts"));
  const programs = await marks?.programMarks(offersIn(all), project);
  const gate: Gate = { named: chosen ?? [], shown, programs };
  const entries = judgeEntries(all, (entry) => whyNot(entry, gate));
  return {
    settings: joinEntries(entries),
    entries,
    trust: {
      ...project,
      state: stateOf(gate),
      waiting: entries.filter(isWaiting),
      shown: gate.shown ?? new Set(),
    },
    managed: read.managed,
    faults: [...read.faults, ...(book.fault ? [book.fault] : [])],
  };
}

/** The entry of the strongest source that says something about a single value. */
export function entryAt(entries: readonly JudgedEntry[], name: string): JudgedEntry | undefined {
  return entries.find(({ path, state }) => state.kind === "counts" && path.join(".") === name);
}

const shownIn = (marks: readonly string[] | undefined): ReadonlySet<string> | undefined =>
  marks && new Set(marks);

function stateOf({ named, shown }: Gate): TrustFacts["state"] {
  if (shown) return "trusted";
  return named.includes("project") || named.includes("local") ? "session" : "untrusted";
}

const isWaiting = ({ state }: JudgedEntry): boolean => state.kind === "left-out" && !state.isForbidden;

/** Throws `settings_invalid`: what somebody forbids must not become free by a slip. */
async function strictLayer(given: Record<string, unknown>): Promise<Layer> {
  const { checkSettings } = await import("./check-settings.ts");
  const { settings, problems } = checkSettings(given);
  const [problem] = problems;
  if (problem !== undefined) throw fault("settings_invalid", { path: "managedSettings", reason: problem });
  const { deny, ask, disableBypassPermissionsMode } = settings.permissions ?? {};
  return { source: "managed", settings: { permissions: { deny, ask, disableBypassPermissionsMode } } };
}

const inOrder = (layers: readonly Layer[]): Layer[] =>
  layers.toSorted((left, right) => sources.indexOf(left.source) - sources.indexOf(right.source));
