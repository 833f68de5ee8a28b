/** Skill: the instructions for a kind of work, read when they are needed. */
import * as z from "zod/mini";
import type { Library } from "../engine/library.ts";
import { defineTool, type Tool, type ToolOutcome } from "../engine/tools/define.ts";
import { schemaOf } from "../kernel/schema.ts";
import { text } from "../protocol/message.ts";
import { failure } from "./failure.ts";

const input = z.object({
  skill: z.string().check(z.minLength(1), z.describe("Its name.")),
  args: z.optional(z.string().check(z.describe("What it is to work on."))),
});
type Input = z.infer<typeof input>;

export const skillTool = (library: Library): Tool<Input> =>
  defineTool({
    name: "Skill",
    description:
      "Reads a skill: instructions for a certain kind of work, which you then follow. Use it when the task is one that a listed skill is for, before you begin.",
    input: schemaOf(input),
    traits: { readOnly: true, replay: "safe" },
    claims: async ({ skill }) => [{ action: "use", target: skill }],
    check: async ({ skill }) => {
      const names = (await library.skills()).map(({ name }) => name);
      if (names.includes(skill)) return undefined;
      return `There is no skill called ${skill}. ${names.length > 0 ? `There are: ${names.join(", ")}.` : "There are none."}`;
    },
    run: async function* ({ skill, args = "" }, _, signal): AsyncGenerator<never, ToolOutcome> {
      const read = await library.readSkill({ name: skill, args }, signal);
      if (!read.ok) return failure(read.why);
      return {
        content: [text(`Follow this skill:\n\n${read.text}`)],
        display: { kind: "text", text: `Skill ${skill}` },
        data: { success: true, commandName: skill },
      };
    },
  });
