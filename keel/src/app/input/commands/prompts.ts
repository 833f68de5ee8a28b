/** The built-in commands that are texts for the model, beside the skills that come with Keel. */
import type { PromptCommand } from "./command.ts";

export const promptCommands: readonly PromptCommand[] = [
  {
    name: "init",
    description: "Writes an AGENTS.md with what an agent must know about this project.",
    argumentHint: "[what else it should say]",
    kind: "prompt",
    body: `Write \`AGENTS.md\` in the root of this project: one page for agents and people who begin to work on it.

1. Read what there is: README, build files, scripts, CI, linter settings, existing instruction files (AGENTS.md, CLAUDE.md, GEMINI.md, .cursorrules, .github/copilot-instructions.md), and enough code to know how it is put together.
2. Write down what cannot be guessed: the commands to build, check and test, also for a single test; how the parts fit together; the rules that the code follows and a newcomer would break; what must not be touched.
3. Leave out what every engineer knows, lists of files that a look at the folder shows, and anything that you have not seen. Check each command that you name, where that is harmless.
4. If there is an AGENTS.md already, improve it and keep what is right in it.

$ARGUMENTS`,
  },
];
