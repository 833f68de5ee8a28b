/** All commands of a session by name: the built-in ones, then commands and skills from files. */
import type { PromptFile } from "../../../config/definitions/library-files.ts";
import type { CommandInfo } from "../../../protocol/inquiry.ts";
import { ownText } from "../../compose/bundled-skills.ts";
import type { SessionLibrary } from "../../compose/library.ts";
import type { LocalCommand } from "./command.ts";
import { localCommands, screenCommands } from "./local.ts";

export type RegisteredCommand =
  | { readonly kind: "local"; readonly command: LocalCommand }
  | { readonly kind: "prompt"; readonly prompt: Pick<PromptFile, "name" | "load"> };

export type Registry = {
  /** Those that are shown, sorted by name. */
  readonly listed: readonly CommandInfo[];
  find(name: string): RegisteredCommand | undefined;
};

/** What decides about a session cannot be replaced by a file; a text of ours can. */
export function registryOf({ commands, skills }: Pick<SessionLibrary, "commands" | "skills">): Registry {
  const fixed = [...localCommands, ...screenCommands];
  const byName = new Map<string, LocalCommand>();
  for (const command of fixed)
    for (const name of [command.name, ...(command.aliases ?? [])]) byName.set(name, command);
  const files = new Map<string, PromptFile>();
  for (const file of [...commands, ...skills]) {
    if (file.forPeople && !byName.has(file.name) && !files.has(file.name)) files.set(file.name, file);
  }
  const own = promptCommands.filter(({ name }) => !files.has(name));
  const listed = [
    ...fixed.map((command) =>
      infoOf(command, {
        kind: command.kind,
        source: "built-in",
        aliases: command.aliases ?? [],
        immediate: !command.waits,
      }),
    ),
    ...own.map((command) => infoOf(command, { kind: "prompt", source: "built-in" })),
    ...[...files.values()]
      .filter(({ hidden }) => !hidden)
      .map((file) => infoOf(file, { kind: "prompt", source: file.source })),
  ].toSorted((one, other) => (one.name < other.name ? -1 : 1));
  return {
    listed,
    find(name) {
      const command = byName.get(name);
      if (command) return { kind: "local", command };
      const prompt = files.get(name) ?? own.find((one) => one.name === name);
      return prompt && { kind: "prompt", prompt };
    },
  };
}

/** The built-in ones alone, for the reference. */
export const builtInCommands = (): readonly CommandInfo[] => registryOf({ commands: [], skills: [] }).listed;

export const infoOf = (
  { name, description, argumentHint }: Pick<CommandInfo, "name" | "description" | "argumentHint">,
  about: Pick<CommandInfo, "kind" | "source"> & Partial<CommandInfo>,
): CommandInfo => ({
  name,
  description,
  argumentHint,
  aliases: [],
  hidden: false,
  immediate: false,
  ...about,
});

/** The built-in commands that are texts for the model, beside the skills that come with Keel. */
const promptCommands: readonly Pick<PromptFile, "name" | "description" | "argumentHint" | "load">[] = [
  {
    name: "init",
    description: "Writes an AGENTS.md with what an agent must know about this project.",
    argumentHint: "[what else it should say]",
    load: async () =>
      ownText(`Write \`AGENTS.md\` in the root of this project: one page for agents and people who begin to work on it.

1. Read what there is: README, build files, scripts, CI, linter settings, existing instruction files (AGENTS.md, CLAUDE.md, GEMINI.md, .cursorrules, .github/copilot-instructions.md), and enough code to know how it is put together.
2. Write down what cannot be guessed: the commands to build, check and test, also for a single test; how the parts fit together; the rules that the code follows and a newcomer would break; what must not be touched.
3. Leave out what every engineer knows, lists of files that a look at the folder shows, and anything that you have not seen. Check each command that you name, where that is harmless.
4. If there is an AGENTS.md already, improve it and keep what is right in it.

$ARGUMENTS`),
  },
];
