/** The Markdown files of the config folders: found, bounded, read and named, for whoever knows what they mean. */
import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import { readPlainText } from "../settings/plain-text.ts";
import { type ConfigFolder, isTrustedFile } from "./folders.ts";
import { type Frontmatter, parseFrontmatter, textField } from "./frontmatter.ts";

export type DefinitionFile = {
  readonly file: string;
  /** From its place: `git:push` for `git/push.md`, with the plugin's name in front. */
  readonly name: string;
  readonly folder: ConfigFolder;
  /** Whether what it starts or allows counts. What it says is text in any case. */
  readonly trusted: boolean;
  readonly front: Frontmatter;
};

export type Definitions<T> = {
  /** The strongest of each name, sorted by name. */
  readonly found: readonly T[];
  /** Sentences for a person about files that were left out, wholly or in part. */
  readonly problems: readonly string[];
};

/** More than anybody can choose from. */
const maxFiles = 500;
const maxDepth = 5;
/** A prompt that is longer is a book. */
export const maxFileCharacters = 256 * 1024;

type DefinitionLayout = "files" | "folders";

/** Pure. Undefined, with a sentence, for a file that is none of its kind. */
export type ParseDefinition<T> = (file: DefinitionFile, tell: (problem: string) => void) => T | undefined;

/** `files`: every `.md` file. `folders`: the file called `SKILL.md` in each folder. */
export async function readDefinitions<T extends { readonly name: string }>(
  folders: readonly ConfigFolder[],
  shape: DefinitionLayout,
  parse: ParseDefinition<T>,
): Promise<Definitions<T>> {
  const problems: string[] = [];
  const found = new Map<string, T>();
  const all = await Promise.all(folders.map((folder) => readFolder(folder, shape)));
  for (const { files, problems: inFolder } of all) {
    problems.push(...inFolder);
    for (const file of files) {
      const tell = (problem: string): void => void problems.push(`${file.file}: ${problem}.`);
      for (const problem of file.front.problems) tell(problem);
      const definition = parse(file, tell);
      // The folders come with the strongest first.
      if (definition && !found.has(definition.name)) found.set(definition.name, definition);
    }
  }
  const sorted = [...found.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1));
  return { found: sorted, problems };
}

/** Reads one file again, when it is used. */
export async function readDefinition(
  file: string,
  folder: ConfigFolder,
): Promise<{ front: Frontmatter; trusted: boolean } | string> {
  const read = await readPlainText(file, { links: linksIn(folder) });
  if (read.kind === "missing") return "it is gone";
  if (read.kind === "refused") return read.why;
  if (read.text.length > maxFileCharacters) return `it is longer than ${maxFileCharacters} characters`;
  return { front: parseFrontmatter(read.text), trusted: isTrustedFile(folder, file, read.text) };
}

type FolderDefinitions = { files: DefinitionFile[]; problems: string[] };

async function readFolder(folder: ConfigFolder, shape: DefinitionLayout): Promise<FolderDefinitions> {
  const paths: string[] = [];
  await collect(folder, folder.path, { shape, into: paths, left: maxDepth });
  const problems: string[] = [];
  if (paths.length > maxFiles) problems.push(`${folder.path}: only ${maxFiles} of its files are read.`);
  const read = await Promise.all(
    paths.slice(0, maxFiles).map(async (file): Promise<DefinitionFile | undefined> => {
      const definition = await readDefinition(file, folder);
      if (typeof definition === "string") {
        problems.push(`${file} was left out: ${definition}.`);
        return undefined;
      }
      return { file, folder, name: nameOf(file, folder, shape), ...definition };
    }),
  );
  return { files: read.filter((file) => file !== undefined), problems };
}

async function collect(
  folder: ConfigFolder,
  place: string,
  { shape, into, left }: { shape: DefinitionLayout; into: string[]; left: number },
): Promise<void> {
  if (left === 0 || into.length > maxFiles) return;
  const entries = await readdir(place, { withFileTypes: true }).catch(() => []);
  const names = entries.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  if (shape === "folders" && names.some(({ name }) => name === skillFile) && place !== folder.path) {
    into.push(path.join(place, skillFile));
    return;
  }
  for (const entry of names) {
    const at = path.join(place, entry.name);
    const kind = await kindOf(folder, at, entry);
    if (kind === "directory" && !entry.name.startsWith("."))
      await collect(folder, at, { shape, into, left: left - 1 });
    else if (kind === "file" && shape === "files" && entry.name.endsWith(".md")) into.push(at);
    if (into.length > maxFiles) return;
  }
}

const skillFile = "SKILL.md";

/** In a project no link is followed; a person may keep their files elsewhere and link them. */
const linksIn = ({ source }: ConfigFolder): "refuse" | "follow" =>
  source === "project" ? "refuse" : "follow";

async function kindOf(
  folder: ConfigFolder,
  place: string,
  entry: { isDirectory(): boolean; isFile(): boolean; isSymbolicLink(): boolean },
): Promise<"directory" | "file" | "other"> {
  if (entry.isDirectory()) return "directory";
  if (entry.isFile()) return "file";
  if (!entry.isSymbolicLink() || linksIn(folder) === "refuse") return "other";
  const target = await stat(place).catch(() => undefined);
  return target?.isDirectory() ? "directory" : target?.isFile() ? "file" : "other";
}

function nameOf(file: string, { path: root, plugin }: ConfigFolder, shape: DefinitionLayout): string {
  const inner = path.relative(root, shape === "folders" ? path.dirname(file) : file.slice(0, -".md".length));
  return [...(plugin === undefined ? [] : [plugin]), ...inner.split(path.sep)].join(":");
}

/** The name that the header gives it, with the plugin's in front, or else that of its place. */
export function nameIn({ name, folder, front }: DefinitionFile): string {
  const named = textField(front, "name");
  return named === undefined ? name : [...(folder.plugin ? [folder.plugin] : []), named].join(":");
}
