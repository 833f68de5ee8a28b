/**
 * Instruction files: what a person and a project want every agent to know. From the general to the special: an
 * administrator's, the person's, those from the project's root down to the working folder, and those of folders further
 * in once a file there was looked at. They are text, trusted or not; where they lie decides whether they are read.
 */
import path from "node:path";
import { globMatcher, parseGlob } from "../../kernel/glob.ts";
import { isInside } from "../../kernel/path.ts";
import type { ChosenSource } from "../settings/layers.ts";
import { ownFolders, type Paths, projectFolders } from "../settings/paths.ts";
import { readPlainText } from "../settings/plain-text.ts";
import { kindOf, realOf } from "../settings/project-root.ts";
import type { TrustFacts } from "../settings/settings.ts";
import { readDefinitions } from "./definition-files.ts";
import type { ConfigFolder } from "./folders.ts";
import { listField } from "./frontmatter.ts";

export type InstructionFile = {
  /** Its real place. */
  readonly path: string;
  /** For whom it was written. */
  readonly source: "managed" | "user" | "project" | "local";
  readonly text: string;
  readonly lines: number;
  /** What a reader must know: that it was cut, or what it names and was not read. */
  readonly notes: readonly string[];
};

export type InstructionsOptions = {
  readonly paths: Paths;
  /** The person's home folder. */
  readonly userHome: string;
  readonly trust: TrustFacts;
  /** Further folders in which the session works. */
  readonly roots?: readonly string[] | undefined;
  readonly chosen?: readonly ChosenSource[] | undefined;
  /** Whether rules let a file be read at all. */
  mayRead(file: string): Promise<boolean>;
};

/** What one file, and all of them together, may take of a conversation. */
export const maxFileCharacters = 40_000;
export const maxTotalCharacters = 160_000;
const maxFiles = 100;
/** How far files may name files that name files. */
export const maxImportDepth = 5;

export class Instructions {
  readonly #wish: InstructionsOptions;
  #rulesFound: Promise<InstructionRule[]> | undefined;

  constructor(options: InstructionsOptions) {
    this.#wish = options;
  }

  /** All that holds from the start, the general first. */
  async start(): Promise<InstructionFile[]> {
    const { trust } = this.#wish;
    const project = trust.folders.toReversed();
    this.#rulesFound = this.#rules();
    const rules = await this.#rulesFound;
    return this.#collect([
      ...this.#ofPerson(),
      ...project.flatMap((folder) => this.#inFolder(folder, "project")),
      ...rules.filter(({ globs }) => globs === undefined),
      ...project.flatMap((folder) => this.#inFolder(folder, "local")),
    ]);
  }

  /** Those that hold where these files are, and are not known yet. */
  async near(files: readonly string[], known: ReadonlySet<string>): Promise<InstructionFile[]> {
    const { trust, roots = [] } = this.#wish;
    const folders = new Set<string>();
    for (const file of files) {
      const root = [trust.root, ...roots].find((place) => isInside(file, [place]));
      if (root === undefined) continue;
      for (let at = path.dirname(file); isInside(at, [root]); at = path.dirname(at)) {
        folders.add(at);
        if (at === root || folders.size > maxFiles) break;
      }
    }
    // As they were at the start: this is asked at every turn that looks at a file.
    this.#rulesFound ??= this.#rules();
    const rules = await this.#rulesFound;
    const inner = [...folders].filter((folder) => !trust.folders.includes(folder)).toSorted();
    const fits = (globs: readonly string[] = []): boolean =>
      files.some((file) => globs.some((glob) => matches(glob, path.relative(trust.root, file))));
    return this.#collect(
      [
        ...inner.flatMap((folder) => [
          ...this.#inFolder(folder, "project"),
          ...this.#inFolder(folder, "local"),
        ]),
        ...rules.filter(({ globs }) => globs !== undefined && fits(globs)),
      ],
      known,
    );
  }

  #ofPerson(): Candidate[] {
    const { paths, userHome } = this.#wish;
    const managed = paths.managed.map((file) => path.dirname(file));
    const own = [userHome, ...ownFolders(paths).toReversed()];
    return [
      ...managed.map(
        (folder): Candidate => ({ source: "managed", within: [folder], choices: choices(folder) }),
      ),
      ...(this.#reads("user")
        ? own.map((folder): Candidate => ({ source: "user", within: own.slice(1), choices: choices(folder) }))
        : []),
    ];
  }

  #inFolder(folder: string, source: "project" | "local"): Candidate[] {
    if (!this.#reads(source)) return [];
    const within = this.#projectRoots();
    if (source === "local")
      return ["AGENTS.local.md", "CLAUDE.local.md"].map((name) => ({
        source,
        within,
        choices: [[path.join(folder, name)]],
      }));
    const inner = projectFolders.map((name) => path.join(folder, name));
    return [folder, ...inner].map((place) => ({ source, within, choices: choices(place) }));
  }

  /** Files of the folders called `rules`. With `paths` in its header one holds only for files that fit. */
  async #rules(): Promise<InstructionRule[]> {
    const { paths, trust } = this.#wish;
    const user = ownFolders(paths).toReversed();
    const folders: ConfigFolder[] = [
      ...(this.#reads("user") ? user.map((place) => rulesFolder(place, "user")) : []),
      ...(this.#reads("project")
        ? trust.folders
            .toReversed()
            .flatMap((folder) =>
              projectFolders.map((name) => rulesFolder(path.join(folder, name), "project")),
            )
        : []),
    ];
    const { found } = await readDefinitions(folders, "files", ({ file, folder, front }) => ({
      name: file,
      source: folder.source === "user" ? ("user" as const) : ("project" as const),
      within: folder.source === "user" ? user : this.#projectRoots(),
      choices: [[file]],
      globs: listField(front, "paths"),
    }));
    return [...found];
  }

  #projectRoots(): string[] {
    const { trust, roots = [] } = this.#wish;
    return [trust.root, ...roots];
  }

  #reads(source: ChosenSource): boolean {
    return this.#wish.chosen?.includes(source) ?? true;
  }

  async #collect(candidates: readonly Candidate[], known?: ReadonlySet<string>): Promise<InstructionFile[]> {
    const collector = new Collector(this.#wish, known ?? new Set());
    for (const candidate of candidates) await collector.take(candidate);
    return collector.files;
  }
}

type Candidate = {
  readonly source: InstructionFile["source"];
  /** It, and all that it names, must lie in one of these. */
  readonly within: readonly string[];
  /** Of each list the first that exists. */
  readonly choices: readonly (readonly string[])[];
};

type InstructionRule = Candidate & { readonly globs: readonly string[] | undefined };

/** The names of others count where a folder has none of ours. */
const choices = (folder: string): string[][] => {
  const at = (name: string): string => path.join(folder, name);
  return [[at("AGENTS.md")], [at("CLAUDE.md")], [at("AGENTS.md"), at("CLAUDE.md"), at("GEMINI.md")]];
};

const rulesFolder = (place: string, source: "user" | "project"): ConfigFolder => ({
  path: path.join(place, "rules"),
  source,
  compatible: false,
  trusted: false,
});

function matches(glob: string, file: string): boolean {
  const parsed = parseGlob(glob);
  if (!parsed.ok) return false;
  const { base, rests } = parsed.value;
  const inner = base === "" ? file : path.relative(base, file);
  return !inner.startsWith("..") && globMatcher(rests)(inner.split(path.sep).join("/"));
}

type ReadFrom = Omit<Candidate, "choices"> & { readonly depth: number };

/** Reads each file once, and what it names behind it. */
class Collector {
  readonly files: InstructionFile[] = [];
  readonly #seen: Set<string>;
  readonly #texts = new Set<string>();
  readonly #wish: InstructionsOptions;
  #left = maxTotalCharacters;

  constructor(options: InstructionsOptions, known: ReadonlySet<string>) {
    this.#wish = options;
    this.#seen = new Set(known);
  }

  async take({ source, within, choices: lists }: Candidate): Promise<void> {
    for (const list of lists) {
      for (const file of list) if (await this.#read(file, { source, within, depth: 0 })) break;
    }
  }

  /** True when there is such a file, whether or not it is new. */
  async #read(given: string, { source, within, depth }: ReadFrom): Promise<boolean> {
    // Most of what is looked for is not there, and every start looks for all of it.
    if (kindOf(given) === "missing") return false;
    const file = realOf(given);
    if (this.#seen.has(file)) return true;
    // A link may lead to what is not of this source. A person's own file may stand in the home folder.
    const isOwn = depth === 0 && source === "user";
    const roots = [...within, ...(isOwn ? [path.dirname(given)] : [])].map(realOf);
    if (!isInside(file, roots)) return false;
    const read = await readPlainText(file, { links: "refuse" });
    if (read.kind === "missing" || this.files.length >= maxFiles) return false;
    this.#seen.add(file);
    if (!(await this.#wish.mayRead(file))) return true;
    if (read.kind === "refused") return true;
    const trimmed = read.text.trim();
    // Two names for the same words: often one of the files is a copy of the other.
    if (trimmed === "" || this.#texts.has(trimmed)) return true;
    this.#texts.add(trimmed);
    const kept = trimmed.slice(0, Math.min(maxFileCharacters, this.#left));
    this.#left -= kept.length;
    const isCut = kept.length < trimmed.length;
    const notes = isCut ? [`Only ${kept.length} of its ${trimmed.length} characters are shown here.`] : [];
    const at = this.files.length;
    const lines = trimmed.split("\n").length;
    const entry: InstructionFile = { path: file, source, text: kept, lines, notes };
    this.files.push(entry);
    const missed = await this.#readNamed(kept, { file, source, within, depth });
    if (missed.length > 0) this.files[at] = { ...entry, notes: [...notes, ...missed] };
    return true;
  }

  async #readNamed(text: string, at: ReadFrom & { file: string }): Promise<string[]> {
    const named = importsIn(text);
    if (named.length === 0) return [];
    if (at.depth >= maxImportDepth) return [`What it names with @ is not read: it is too many files deep.`];
    const missed: string[] = [];
    for (const place of named) {
      const file = path.resolve(path.dirname(at.file), this.#withHome(place));
      const isThere = await this.#read(file, { ...at, depth: at.depth + 1 });
      // A name that is no path, such as a person's, is nobody's mistake.
      if (!isThere && looksLikePath(place))
        missed.push(`@${place} was not read: there is no such file here.`);
    }
    return missed.slice(0, 5);
  }

  #withHome(place: string): string {
    return place.startsWith("~/") ? path.join(this.#wish.userHome, place.slice(2)) : place;
  }
}

const looksLikePath = (place: string): boolean => /[/\\]|\.(?:md|txt|json|ya?ml|toml)$/.test(place);

/** More than a text for people names. */
const maxImports = 50;

export function importsIn(text: string): string[] {
  if (!text.includes("@")) return [];
  const found = new Set<string>();
  let fence: string | undefined;
  for (const line of text.split("\n")) {
    const mark = fenceOf(line);
    if (fence !== undefined) {
      if (mark?.startsWith(fence)) fence = undefined;
      continue;
    }
    if (mark !== undefined) {
      fence = mark;
      continue;
    }
    for (const place of namedIn(withoutCode(line))) {
      found.add(place);
      if (found.size >= maxImports) return [...found];
    }
  }
  return [...found];
}

/** The marks that begin or end a block of code. */
const fenceOf = (line: string): string | undefined => /^\s*(`{3,}|~{3,})/.exec(line)?.[1];

/** What stands between single backquotes is shown, not meant. */
const withoutCode = (line: string): string =>
  line
    .split("`")
    .filter((_, index) => index % 2 === 0)
    .join(" ");

function namedIn(line: string): string[] {
  if (!line.includes("@")) return [];
  return line
    .split(/\s/)
    .filter((word) => word.startsWith("@") && word.length > 1 && word.length < 1_000)
    .map((word) => word.slice(1).replace(/[.,;:!?)\]}"']{1,10}$/, ""))
    .filter((place) => place !== "");
}
