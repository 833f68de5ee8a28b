/**
 * Skills and commands from folders, each a text that is put to the model: a skill is a folder with a `SKILL.md`, whose
 * header says what it is for and whose text is read on use; a command is a file, called by `/name`.
 */
import {
  type DefinitionFile,
  type Definitions,
  isPlainName,
  nameIn,
  readDefinition,
  readDefinitions,
} from "./definition-files.ts";
import type { ConfigFolder } from "./folders.ts";
import { type Frontmatter, flagField, listField, textField } from "./frontmatter.ts";

/** What a skill and a command of a person have in common: a text that is put to the model. */
export type PromptFile = {
  readonly name: string;
  readonly description: string;
  readonly argumentHint: string;
  /** Whether a person may call it by `/name`. */
  readonly forPeople: boolean;
  /** Whether the model may call it by itself. */
  readonly forModel: boolean;
  /** Called by a person, but not listed. */
  readonly hidden: boolean;
  readonly source: ConfigFolder["source"] | "bundled";
  /** Reads the text itself, as it is now, or a sentence why that is not possible. */
  load(): Promise<PromptText | string>;
};

export type PromptText = {
  readonly body: string;
  /** The folder that its relative paths are meant from. */
  readonly folder: string;
  /** Whether commands in it may run, and what it allows counts: nothing of a project acts before trust. */
  readonly trusted: boolean;
  /** Rules for what runs without a question while it is followed. */
  readonly allow: readonly string[];
  readonly model: string | undefined;
  /** In an agent of its own, of this kind. */
  readonly fork: { readonly agent: string | undefined } | undefined;
};

/** A sentence or two; a longer one would be told to the model with every conversation. */
const maxDescription = 1_024;

/** Takes the folders of the kind `skills`. */
export const readSkillFiles = (folders: readonly ConfigFolder[]): Promise<Definitions<PromptFile>> =>
  readDefinitions(folders, "folders", parseSkill);

/** Takes the folders of the kind `commands`. A file in a folder of its own is called `folder:name`. */
export const readCommandFiles = (folders: readonly ConfigFolder[]): Promise<Definitions<PromptFile>> =>
  readDefinitions(folders, "files", (file, tell) => {
    if (file.front.body.trim() === "") return void tell("a command needs a text below its header");
    return promptFile(file, { name: file.name, tell });
  });

function parseSkill(file: DefinitionFile, tell: (problem: string) => void): PromptFile | undefined {
  if (textField(file.front, "description") === undefined) return void tell("a skill needs a description");
  return promptFile(file, { name: nameIn(file), tell });
}

export function promptFile(
  { file, folder, front }: DefinitionFile,
  { name, tell }: { name: string; tell: (problem: string) => void },
): PromptFile | undefined {
  if (!isPlainName(name)) return void tell(`${JSON.stringify(name)} is no name`);
  return {
    name,
    description: (textField(front, "description") ?? firstLine(front.body)).slice(0, maxDescription),
    argumentHint: textField(front, "argument-hint", "argumentHint")?.slice(0, 100) ?? "",
    forPeople: flagField(front, "user-invocable", "userInvocable") ?? true,
    forModel: !(flagField(front, "disable-model-invocation", "disableModelInvocation") ?? false),
    hidden: flagField(front, "hidden", "isHidden") ?? false,
    source: folder.source,
    async load() {
      const read = await readDefinition(file, folder);
      if (typeof read === "string") return `${file} cannot be used: ${read}.`;
      return promptText(read.front, { file, trusted: read.trusted });
    },
  };
}

function promptText(front: Frontmatter, { file, trusted }: { file: string; trusted: boolean }): PromptText {
  const fork = textField(front, "context") === "fork";
  return {
    body: front.body.trim(),
    folder: file.slice(0, Math.max(file.lastIndexOf("/"), file.lastIndexOf("\\"))),
    trusted,
    allow: trusted ? (listField(front, "allowed-tools", "allowed_tools", "allowedTools") ?? []) : [],
    model: textField(front, "model"),
    fork: fork ? { agent: textField(front, "agent") } : undefined,
  };
}

const firstLine = (body: string): string =>
  body
    .split("\n", 20)
    .map((line) => line.replace(/^#+\s*/, "").trim())
    .find((line) => line !== "") ?? "";
