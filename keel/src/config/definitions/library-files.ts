/**
 * What people, projects and plugins bring along in folders, a Markdown file each: skills and commands, texts that are
 * put to the model (a skill is a folder with a `SKILL.md`, a command is called by `/name`); kinds of agents, whose text is
 * their prompt and whose header their limits; output styles, whose text says how answers are to be written.
 */
import type { AgentProfile } from "../../ports/agent-definition.ts";
import { effortSchema, permissionModeSchema } from "../../protocol/settings.ts";
import type { FolderKind } from "../settings/paths.ts";
import {
  type DefinitionFile,
  nameIn,
  type ParseDefinition,
  readDefinition,
  readDefinitions,
} from "./definition-files.ts";
import type { ConfigFolder } from "./folders.ts";
import { countField, type Frontmatter, flagField, listField, textField } from "./frontmatter.ts";

export type LibraryFiles = {
  readonly skills: readonly PromptFile[];
  readonly commands: readonly PromptFile[];
  readonly agents: readonly AgentProfile[];
  readonly styles: readonly OutputStyle[];
  /** Sentences for a person about files that were left out, wholly or in part. */
  readonly problems: readonly string[];
};

/** Takes the folders of each kind; of two files with one name the one of the stronger folder counts. */
export async function readLibraryFiles(
  folders: (kind: FolderKind) => readonly ConfigFolder[],
): Promise<LibraryFiles> {
  const [skills, commands, agents, styles] = await Promise.all([
    readDefinitions(folders("skills"), "folders", parseSkill),
    readDefinitions(folders("commands"), "files", parseCommand),
    readDefinitions(folders("agents"), "files", parseAgent),
    readDefinitions(folders("output-styles"), "files", parseStyle),
  ]);
  return {
    skills: skills.found,
    commands: commands.found,
    agents: agents.found,
    styles: styles.found,
    problems: [skills, commands, agents, styles].flatMap(({ problems }) => problems),
  };
}

/** What a name may be made of: it is typed after a slash, shown in lists and used in rules. */
function isNamed(name: string, tell: (problem: string) => void, what = ""): boolean {
  const isPlain = /^[\p{L}\p{N}_][\p{L}\p{N}_.:-]{0,99}$/u.test(name);
  if (!isPlain) tell(`${JSON.stringify(name)} is no name${what}`);
  return isPlain;
}

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

/** A file in a folder of its own is called `folder:name`. */
const parseCommand: ParseDefinition<PromptFile> = (file, tell) => {
  if (file.front.body.trim() === "") return void tell("a command needs a text below its header");
  return isNamed(file.name, tell) ? promptFile(file, file.name) : undefined;
};

const parseSkill: ParseDefinition<PromptFile> = (file, tell) => {
  if (textField(file.front, "description") === undefined) return void tell("a skill needs a description");
  const name = nameIn(file);
  return isNamed(name, tell) ? promptFile(file, name) : undefined;
};

function promptFile({ file, folder, front }: DefinitionFile, name: string): PromptFile {
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

const parseAgent: ParseDefinition<AgentProfile> = (file, tell) => {
  const { folder, front, trusted } = file;
  const name = nameIn(file);
  if (!isNamed(name, tell, " for an agent")) return undefined;
  const description = textField(front, "description");
  if (description === undefined) return void tell("an agent needs a description");
  const prompt = front.body.trim();
  if (prompt === "") return void tell("an agent needs a prompt below its header");
  const tools = listField(front, "tools");
  const effort = effortSchema.safeParse(textField(front, "effort"));
  const mode = permissionModeSchema.safeParse(textField(front, "permissionMode", "permission-mode"));
  const isolation = textField(front, "isolation");
  return {
    name,
    description,
    prompt,
    // One star means all, as if the line were not there.
    tools: tools?.includes("*") ? undefined : tools,
    disallowedTools: listField(front, "disallowedTools", "disallowed-tools"),
    model: textField(front, "model"),
    effort: effort.success ? effort.data : undefined,
    // A mode is a leave: that of a project counts with trust.
    permissionMode: mode.success && trusted ? mode.data : undefined,
    maxTurns: countField(front, "maxTurns", "max-turns"),
    background: flagField(front, "background"),
    isolation: isolation === "worktree" ? isolation : undefined,
    skills: listField(front, "skills"),
    mcpServers: trusted ? listField(front, "mcpServers", "mcp-servers") : undefined,
    from: folder.source === "managed" ? "user" : folder.source,
  };
};

export type OutputStyle = {
  readonly name: string;
  readonly description: string;
  readonly text: string;
  /** Whether what Keel says about the work itself stays beside it. */
  readonly keepsWork: boolean;
};

/** It stands in every request. */
const maxStyleCharacters = 16_000;

const parseStyle: ParseDefinition<OutputStyle> = (file, tell) => {
  const { front } = file;
  const name = nameIn(file);
  const text = front.body.trim();
  if (!isNamed(name, tell, " for an output style")) return undefined;
  if (text === "") return void tell("an output style needs a text below its header");
  if (text.length > maxStyleCharacters)
    return void tell(`it is longer than ${maxStyleCharacters} characters`);
  return {
    name,
    description: textField(front, "description") ?? "",
    text,
    keepsWork: flagField(front, "keep-coding-instructions", "keepsWork") ?? false,
  };
};
