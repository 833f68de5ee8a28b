/** Skill: the instructions for a kind of work, read when they are needed, or given to an agent of its own. */
import * as z from "zod/mini";
import type { Agents } from "../ports/agents.ts";
import type { Library, SkillRead } from "../ports/library.ts";
import type { Tool, ToolContext, ToolOutcome } from "../ports/tool.ts";
import { text } from "../protocol/message.ts";
import type { Display } from "../protocol/tool.ts";
import { builtInTool, failure, textField } from "./built-in.ts";

const input = z.object({
  skill: textField("The skill's name.", z.minLength(1)),
  args: z.optional(textField("Arguments for the skill.")),
});

/** Where agents are absent, a skill that wants one of its own is followed here. */
export const skillTool = (library: Library, agents?: Agents | undefined): Tool<z.infer<typeof input>> =>
  builtInTool({
    name: "Skill",
    description:
      "Loads a skill: instructions for one kind of work, which you then follow. If a listed skill fits the task, load it before you start.",
    input,
    traits: { readOnly: true, replay: "safe" },
    claims: async ({ skill }) => [{ action: "use", target: skill }],
    check: async ({ skill }) => {
      const names = (await library.skills()).map(({ name }) => name);
      if (names.includes(skill)) return undefined;
      return `There is no skill called ${skill}. ${names.length > 0 ? `There are: ${names.join(", ")}.` : "There are none."}`;
    },
    run: async function* ({ skill, args = "" }, context, signal) {
      const read = await library.readSkill({ name: skill, args }, signal);
      if (!read.ok) return failure(read.why);
      if (read.fork && agents) return yield* inAgent({ skill, context, read, agents }, signal);
      return {
        content: [text(`Follow this skill:\n\n${read.text}`)],
        display: { kind: "text", text: `Skill ${skill}` },
        data: { success: true, commandName: skill },
        ...(read.allow && read.allow.length > 0 ? { allow: [...read.allow] } : {}),
      };
    },
  });

type SkillOrder = {
  skill: string;
  context: ToolContext;
  read: Extract<SkillRead, { ok: true }>;
  agents: Agents;
};

async function* inAgent(
  { skill, context, read, agents }: SkillOrder,
  signal: AbortSignal,
): AsyncGenerator<Display, ToolOutcome> {
  const wanted = read.fork?.agent;
  const kinds = agents.kinds().map(({ name }) => name);
  const kind = wanted !== undefined && kinds.includes(wanted) ? wanted : "general-purpose";
  const outcome = yield* agents.start(
    {
      kind,
      description: `Skill ${skill}`,
      prompt: read.text,
      model: read.fork?.model,
      effort: undefined,
      name: undefined,
      isolation: undefined,
      when: "foreground",
    },
    context,
    signal,
  );
  if (!outcome.ok) return failure(outcome.why);
  return {
    content: [...outcome.content],
    display: { kind: "agent", name: kind, text: `Skill ${skill}` },
    data: { success: true, commandName: skill },
  };
}
