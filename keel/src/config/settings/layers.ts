/**
 * The files that settings come from, read one by one. What cannot be read, or does not fit, is told and left out: a
 * start never fails on a file that somebody edits. What a project's files may do is not decided here.
 */
import path from "node:path";
import { type Fault, fault } from "../../kernel/fault.ts";
import { isObject } from "../../kernel/json.ts";
import type { SettingSource } from "../../protocol/options.ts";
import { readJsonc } from "./jsonc.ts";
import { ownFolders, type Paths, projectFolders } from "./paths.ts";
import { type PlainText, readPlainText } from "./plain-text.ts";
import { configFoldersIn, kindOf, type Project } from "./project-root.ts";
import type { KeelSettings } from "./settings-schema.ts";

/** From the strongest to the weakest. */
export const sources = ["managed", "command-line", "flags", "local", "project", "user"] as const;
export type LayerSource = (typeof sources)[number];

/** Sources that a caller may choose among; the others are always read. */
export type ChosenSource = SettingSource;

export type Layer = {
  readonly source: LayerSource;
  /** Where it was read; absent for what came as a value. */
  readonly file?: string | undefined;
  readonly settings: KeelSettings;
};

export type LayersOptions = {
  readonly paths: Paths;
  readonly project: Project;
  /** All when left out. */
  readonly chosen?: readonly ChosenSource[] | undefined;
  /** `--settings`: an object, or the path of a file. */
  readonly flags?: string | Record<string, unknown> | undefined;
};

export type ReadLayers = {
  /** The strongest first. */
  readonly layers: readonly Layer[];
  /** One for each file or value that was left out, for a person. */
  readonly faults: readonly Fault[];
  /** Whether all that an administrator says was understood. */
  readonly managed: "whole" | "damaged";
};

/**
 * Throws `usage` when the file that `flags` names cannot be read, since it was asked for by name, or what it forbids
 * cannot; and `settings_invalid` when an administrator's file cannot.
 */
export async function readLayers(options: LayersOptions): Promise<ReadLayers> {
  const [managed, ...others] = await Promise.all([
    readManaged(options.paths.managed),
    options.flags === undefined ? nothing : readFlags(options.flags),
    ...layerFilesOf(options).map(readLayer),
  ]);
  const found = [managed, ...others];
  return {
    managed: managed.faults.length === 0 ? "whole" : "damaged",
    layers: found.flatMap(({ layer }) => layer ?? []),
    faults: found.flatMap(({ faults }) => faults),
  };
}

type LayerFile = {
  readonly source: LayerSource;
  readonly file: string;
  /** A second source has names that mean something elsewhere. */
  readonly dialect: "ours" | "compatible" | "servers";
};

type LayerResult = {
  readonly layer?: Layer;
  readonly faults: readonly Fault[];
  /** Something that forbids was left out. */
  readonly lost?: Fault | undefined;
};
const nothing: LayerResult = { faults: [] };

function layerFilesOf({ paths, project, chosen }: LayersOptions): LayerFile[] {
  const isChosen = (source: ChosenSource): boolean => chosen?.includes(source) ?? true;
  const places = configFoldersIn(project, ownFolders(paths));
  const inProject = (source: "local" | "project", name: string): LayerFile[] =>
    places.map((place) => ({
      source,
      file: path.join(place, name),
      dialect: place.endsWith(projectFolders[0]) ? "ours" : "compatible",
    }));
  const servers = (): LayerFile[] =>
    [
      ...inProject("project", "mcp.json").filter(({ dialect }) => dialect === "ours"),
      ...project.folders.map((folder) => ({ file: path.join(folder, ".mcp.json") })),
    ].map(({ file }) => ({ source: "project", file, dialect: "servers" }));
  return [
    ...(isChosen("local") ? inProject("local", "settings.local.json") : []),
    ...(isChosen("project") ? [...inProject("project", "settings.json"), ...servers()] : []),
    ...(isChosen("user") ? userLayerFiles(paths) : []),
  ];
}

const userLayerFiles = ({ settings, compatible }: Paths): LayerFile[] => [
  { source: "user", file: settings, dialect: "ours" },
  ...(compatible === undefined
    ? []
    : [{ source: "user", file: compatible, dialect: "compatible" } satisfies LayerFile]),
];

async function readLayer(place: LayerFile): Promise<LayerResult> {
  const isOfProject = place.source === "local" || place.source === "project";
  if (isOfProject && kindOf(path.dirname(place.file)) === "link")
    return refused(place.file, "its folder is a link");
  return parse(place, await readPlainText(place.file, { links: isOfProject ? "refuse" : "follow" }));
}

async function parse(place: LayerFile, read: PlainText): Promise<LayerResult> {
  if (read.kind === "missing") return nothing;
  if (read.kind === "refused") return refused(place.file, read.why);
  const written = await readJsonc(read.text);
  if (!written.ok) return refused(place.file, written.error);
  if (!isObject(written.value)) return refused(place.file, "it is not an object in JSON");
  return check(place, written.value);
}

async function check(
  { source, file, dialect }: Omit<LayerFile, "file"> & { file?: string },
  written: Record<string, unknown>,
): Promise<LayerResult> {
  // Loaded late: most starts find no settings at all.
  const { checkSettings } = await import("./check-settings.ts");
  const { settings, problems, lost, unknown } = checkSettings(
    dialect === "servers" ? serversIn(written) : written,
  );
  const named = file ?? "--settings";
  const faults = problems.map((problem) => invalid(named, problem));
  if (unknown.length > 0 && dialect === "ours")
    faults.push(invalid(named, `nothing is called ${unknown.slice(0, 5).join(", ")}`));
  return {
    layer: { source, file, settings },
    faults,
    lost: lost === undefined ? undefined : invalid(named, lost),
  };
}

const serversIn = (written: Record<string, unknown>): Record<string, unknown> =>
  Object.hasOwn(written, "mcpServers") ? { mcpServers: written["mcpServers"] } : {};

/** What an administrator forbids must not become free by a slip in the file: without it nothing starts. */
async function readManaged(files: readonly string[]): Promise<LayerResult> {
  for (const file of files) {
    const read = await readPlainText(file, { links: "follow" });
    if (read.kind === "missing") continue;
    const found = await parse({ source: "managed", file, dialect: "ours" }, read);
    const [first] = found.faults;
    if (!found.layer && first) throw first;
    return found;
  }
  return nothing;
}

async function readFlags(given: string | Record<string, unknown>): Promise<LayerResult> {
  if (typeof given !== "string") return whole(await check({ source: "flags", dialect: "ours" }, given));
  const read = await readPlainText(given, { links: "follow" });
  if (read.kind !== "text")
    throw fault("usage", {
      reason: `The settings in ${given} cannot be read: ${read.kind === "missing" ? "there is no such file" : read.why}.`,
    });
  return whole(await parse({ source: "flags", file: given, dialect: "ours" }, read));
}

/** What was given for this start and forbids something must not get lost. One wrong value of another kind may. */
function whole(found: LayerResult): LayerResult {
  const lost = found.layer ? found.lost : found.faults[0];
  if (lost) throw fault("usage", { reason: lost.message });
  return found;
}

const refused = (file: string, reason: string): LayerResult => ({ faults: [invalid(file, reason)] });
const invalid = (file: string, reason: string): Fault => fault("settings_invalid", { path: file, reason });
