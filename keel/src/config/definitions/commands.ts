/** Commands from folders: a Markdown file each, called by `/name`, whose text is put to the model. */
import { type Definitions, readDefinitions } from "./definition-files.ts";
import type { ConfigFolder } from "./folders.ts";
import { type PromptFile, promptFile } from "./skills.ts";

/** Takes the folders of the kind `commands`. A file in a folder of its own is called `folder:name`. */
export const readCommandFiles = (folders: readonly ConfigFolder[]): Promise<Definitions<PromptFile>> =>
  readDefinitions(folders, "files", (file, tell) => {
    if (file.front.body.trim() === "") return void tell("a command needs a text below its header");
    return promptFile(file, { name: file.name, tell });
  });
