/** Output styles from folders: a Markdown file each, whose text says how answers are to be written. */
import { type Definitions, isPlainName, nameIn, readDefinitions } from "./definition-files.ts";
import type { ConfigFolder } from "./folders.ts";
import { flagField, textField } from "./frontmatter.ts";

export type OutputStyle = {
  readonly name: string;
  readonly description: string;
  readonly text: string;
  /** Whether what Keel says about the work itself stays beside it. */
  readonly keepsWork: boolean;
};

/** It stands in every request. */
const maxCharacters = 16_000;

/** Takes the folders of the kind `output-styles`. */
export const readOutputStyleFiles = (folders: readonly ConfigFolder[]): Promise<Definitions<OutputStyle>> =>
  readDefinitions(folders, "files", (file, tell) => {
    const { front } = file;
    const name = nameIn(file);
    const text = front.body.trim();
    if (!isPlainName(name)) return void tell(`${JSON.stringify(name)} is no name for an output style`);
    if (text === "") return void tell("an output style needs a text below its header");
    if (text.length > maxCharacters) return void tell(`it is longer than ${maxCharacters} characters`);
    return {
      name,
      description: textField(front, "description") ?? "",
      text,
      keepsWork: flagField(front, "keep-coding-instructions", "keepsWork") ?? false,
    };
  });
