/**
 * The folders in which files of one kind are looked for (commands, agents, skills, output styles), the strongest first.
 * Whoever reads such files takes the list from here, so that priority and trust are the same for all of them. Of two files with one name the one of the earlier folder counts. A file of a project is text that may be shown and
 * read to the model, trusted or not; what in it runs, allows or starts something counts only if `isTrustedFile`.
 */
import path from "node:path";
import { isInside } from "../../kernel/path.ts";
import type { ChosenSource } from "../settings/layers.ts";
import { type FolderKind, ownFolders, type Paths, projectFolders } from "../settings/paths.ts";
import { fileMark } from "../settings/project-offer.ts";
import { configFoldersIn, kindOf, realOf } from "../settings/project-root.ts";
import type { TrustFacts } from "../settings/settings.ts";

export type ConfigFolder = {
  readonly path: string;
  /** There is no local one: what is only for oneself in a project are settings. */
  readonly source: "managed" | "project" | "user" | "plugin";
  /** Of the second source, `.claude`: read, never written, and weaker than ours beside it. */
  readonly compatible: boolean;
  /** Whether what its files start or allow may count at all; for a file of it ask `isTrustedFile`. */
  readonly trusted: boolean;
  /** Of a plugin: its name, which goes before the names of its files. */
  readonly plugin?: string;
  /** Of a plugin: its root, which no link of it may lead out of. */
  readonly within?: string;
  /** When only what was shown is trusted: the marks of that. */
  readonly shown?: ReadonlySet<string>;
};

export type FoldersOptions = {
  readonly kind: FolderKind;
  readonly paths: Paths;
  readonly trust: TrustFacts;
  /** As for the settings: all when left out, and naming a source trusts it. */
  readonly chosen?: readonly ChosenSource[] | undefined;
  /** Plugins that somebody added or named by path, which is trusting them; `path` is their root. */
  readonly plugins?: readonly { readonly name: string; readonly path: string }[] | undefined;
};

/** What stands there of one kind, and sentences for a person about links that are not followed. */
export type KindFolders = { readonly folders: readonly ConfigFolder[]; readonly problems: readonly string[] };

/** Of one kind; who needs several asks `foldersByKind` once. */
export const configFolders = ({ kind, ...options }: FoldersOptions): readonly ConfigFolder[] =>
  foldersByKind(options)(kind).folders;

/** Only those that are there. In a project no link is followed: it may lead to what is not the project's. */
export function foldersByKind(options: Omit<FoldersOptions, "kind">): (kind: FolderKind) => KindFolders {
  const places = basesOf(options);
  const found = new Map<FolderKind, KindFolders>();
  return (kind) => {
    const known = found.get(kind);
    if (known) return known;
    const there = places.map((base) => ({ ...base, path: path.join(base.path, kind) })).filter(isThere);
    const reasons = there.map(whyNoFolder);
    const fresh = {
      folders: there.filter((_, index) => reasons[index] === undefined),
      problems: there.flatMap(({ path: place }, index) =>
        reasons[index] === undefined ? [] : [`${place} was left out: ${reasons[index]}.`],
      ),
    };
    found.set(kind, fresh);
    return fresh;
  };
}

/** What holds folders of every kind, by its own path. */
function basesOf({ paths, trust, chosen, plugins = [] }: Omit<FoldersOptions, "kind">): ConfigFolder[] {
  const isChosen = (source: ChosenSource): boolean => chosen?.includes(source) ?? true;
  const own = ownFolders(paths);
  const isNamed = chosen?.includes("project") ?? false;
  const sure = (
    source: ConfigFolder["source"],
    place: string,
    more: Partial<ConfigFolder> = {},
  ): ConfigFolder => ({ path: place, source, compatible: false, trusted: true, ...more });
  const inProject = (place: string): ConfigFolder =>
    sure("project", place, {
      compatible: !place.endsWith(projectFolders[0]),
      trusted: isNamed || trust.state === "trusted",
      ...(isNamed ? {} : { shown: trust.shown }),
    });
  return [
    ...managedFolder(paths).map((place) => sure("managed", place)),
    ...(isChosen("project") ? configFoldersIn(trust, own).filter(isDirectory).map(inProject) : []),
    ...(isChosen("user") ? own.map((place, index) => sure("user", place, { compatible: index > 0 })) : []),
    ...plugins.map(({ name, path: root }) => sure("plugin", root, { plugin: name, within: root })),
  ];
}

/** Why a folder is not read: in a project no link is followed, and one of a plugin must not lead out of it. */
export function whyNoFolder({ path: place, source, within }: ConfigFolder): string | undefined {
  if (source === "project" && kindOf(place) === "link") return "it is a link";
  return within === undefined ? undefined : whyOutside(place, within);
}

/** Why a file or folder of a plugin is not the plugin's. */
export const whyOutside = (place: string, within: string): string | undefined =>
  isInside(realOf(place), [realOf(within)])
    ? undefined
    : `it is a link to ${realOf(place)}, which is not part of the plugin`;

/** Whether what this file starts or allows counts: it stands as it was when somebody saw it and trusted it. */
export function isTrustedFile({ trusted, shown }: ConfigFolder, file: string, text: string): boolean {
  return trusted && (shown === undefined || shown.has(fileMark(file, text)));
}

/** Beside the administrator's file that counts. */
function managedFolder({ managed }: Paths): string[] {
  const file = managed.find((place) => kindOf(place) !== "missing") ?? managed[0];
  return file === undefined ? [] : [path.dirname(file)];
}

function isThere({ path: place, source }: ConfigFolder): boolean {
  if (source === "project") return kindOf(place) !== "missing";
  return isDirectory(realOf(place));
}

const isDirectory = (place: string): boolean => kindOf(place) === "directory";
