/** Everything that people, projects and plugins bring along in files: read once at the start, their texts when used. */
import path from "node:path";
import { type ConfigFolder, foldersByKind } from "../../config/definitions/folders.ts";
import {
  type LibraryFiles,
  type PromptFile,
  readLibraryFiles,
} from "../../config/definitions/library-files.ts";
import { addedPlugins } from "../../config/definitions/plugin-list.ts";
import type { Plugin } from "../../config/definitions/plugins.ts";
import type { ChosenSource } from "../../config/settings/layers.ts";
import { type FolderKind, folderKinds, type Paths } from "../../config/settings/paths.ts";
import type { TrustFacts } from "../../config/settings/settings.ts";
import type { SessionState } from "../../core/state/state.ts";
import type { Library, SkillInfo } from "../../ports/library.ts";
import type { AttachContext } from "../input/attach-mentions.ts";
import { bundledSkills } from "./bundled-skills.ts";

export type LibraryOptions = {
  readonly paths: Paths;
  readonly cwd: string;
  readonly trust: TrustFacts;
  readonly chosen?: readonly ChosenSource[] | undefined;
  /** Folders of plugins that this start names. */
  readonly plugins?: readonly string[] | undefined;
  /** The skills that the model is offered, by name; all when left out. */
  readonly skills?: readonly string[] | "all" | undefined;
};

/** Of agents only the kinds from folders: those that every session has are not among them. */
export type SessionLibrary = LibraryFiles & {
  readonly plugins: readonly Plugin[];
  /** Where skills, commands and agents come from: a skill names files beside it. */
  readonly folders: readonly string[];
  /** Where tools of a person's own stand. A plugin brings none: what it calls so may be anything. */
  readonly toolFolders: readonly ConfigFolder[];
};

/** Never throws: what cannot be read is told and left out. */
export async function readLibrary(options: LibraryOptions): Promise<SessionLibrary> {
  const { plugins, problems } = await readPlugins(options);
  const byKind = foldersByKind({ ...options, plugins });
  const foldersOf = (kind: FolderKind) => byKind(kind).folders;
  const read = await readLibraryFiles(foldersOf);
  const own = new Set(read.skills.map(({ name }) => name));
  return {
    ...read,
    skills: [...read.skills, ...bundledSkills.filter(({ name }) => !own.has(name))],
    plugins,
    folders: (["skills", "commands", "agents"] as const).flatMap(foldersOf).map(({ path: folder }) => folder),
    toolFolders: foldersOf("tools").filter(({ source }) => source !== "plugin"),
    problems: [...problems, ...folderKinds.flatMap((kind) => byKind(kind).problems), ...read.problems],
  };
}

/** Those that this start names come first; of two with one name the first counts. */
async function readPlugins({
  paths,
  cwd,
  chosen,
  plugins: named = [],
}: LibraryOptions): Promise<Pick<SessionLibrary, "plugins" | "problems">> {
  const added = (chosen?.includes("user") ?? true) ? await addedPlugins(paths.home) : [];
  const places = new Set([...named.map((place) => path.resolve(cwd, place)), ...added]);
  if (places.size === 0) return { plugins: [], problems: [] };
  const { readPlugin } = await import("../../config/definitions/plugins.ts");
  const reads = await Promise.all([...places].map(readPlugin));
  const plugins = new Map<string, Plugin>();
  const problems: string[] = [];
  for (const read of reads) {
    if (!read.ok) problems.push(read.why);
    else if (plugins.has(read.plugin.name))
      problems.push(`A second plugin called ${read.plugin.name} was left out: ${read.plugin.path}.`);
    else {
      plugins.set(read.plugin.name, read.plugin);
      problems.push(...read.problems);
    }
  }
  return { plugins: [...plugins.values()], problems };
}

/** What the model may call: skills, and commands that say what they are for. */
export function modelSkills(
  { skills, commands }: Pick<SessionLibrary, "skills" | "commands">,
  request: LibraryOptions["skills"],
): PromptFile[] {
  const isWanted = ({ name, forModel }: PromptFile): boolean =>
    forModel && (request === undefined || request === "all" || request.includes(name));
  const own = new Set(skills.map(({ name }) => name));
  return [...skills, ...commands.filter(({ name }) => !own.has(name))].filter(isWanted);
}

export type LibraryPort = Library & {
  /** From here on the session's mode and learnt rules count. */
  follow(state: () => SessionState): void;
};

/** The port of the Skill tool. `worldOf` gives what texts are read with, for the state that the session is in. */
export function libraryPort(
  offered: () => readonly PromptFile[],
  worldOf: (state: () => SessionState | undefined) => AttachContext,
): LibraryPort {
  let state: () => SessionState | undefined = () => undefined;
  const context = worldOf(() => state());
  return {
    follow(now) {
      state = now;
    },
    skills: async () => offered().map(({ name, description }): SkillInfo => ({ name, description })),
    async readSkill({ name, args }, signal) {
      const skill = offered().find((file) => file.name === name);
      if (!skill) return { ok: false, why: `There is no skill called ${name}.` };
      const { readPrompt } = await import("../input/read-prompt.ts");
      const read = await readPrompt(skill, args, { world: context, signal });
      if (!read.ok) return read;
      const { folder, allow, fork, model } = read.loaded;
      const files = read.blocks.flatMap((block) => (block.type === "text" ? [block.text] : []));
      const place = folder === "" ? [] : [`(Paths in it are meant from ${folder}.)`];
      return {
        ok: true,
        text: [...place, read.text, ...files].join("\n\n"),
        allow,
        fork: fork && { agent: fork.agent, model },
      };
    },
  };
}
