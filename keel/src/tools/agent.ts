/** Agent: a piece of work for another agent, which has a conversation of its own. */
import * as z from "zod/mini";
import { schemaOf } from "../kernel/schema.ts";
import type { AgentOutcome, Agents } from "../ports/agents.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { Tool, ToolOutcome } from "../ports/tool.ts";
import type { Display } from "../protocol/tool.ts";
import { failure } from "./failure.ts";
import { toolHeads } from "./heads.ts";

const generalKind = "general-purpose";

const input = z.object({
  description: z.string().check(z.minLength(1), z.maxLength(200), z.describe("The work in a few words.")),
  prompt: z
    .string()
    .check(
      z.minLength(1),
      z.describe("All that the agent needs to know: it sees nothing of this conversation."),
    ),
  subagent_type: z.optional(z.string().check(z.describe(`Which kind of agent; ${generalKind} if left out.`))),
  model: z.optional(z.string().check(z.describe("Another model."))),
  effort: z.optional(
    z.enum(["low", "medium", "high", "xhigh", "max"]).check(z.describe("How hard to think.")),
  ),
  run_in_background: z.optional(
    z
      .boolean()
      .check(z.describe("Whether to go on meanwhile, which is usual; you are told when it has ended.")),
  ),
  name: z.optional(z.string().check(z.maxLength(60), z.describe("A name to send it messages by."))),
  isolation: z.optional(z.enum(["worktree"]).check(z.describe("worktree: in a copy of the repository."))),
});
type AgentInput = z.infer<typeof input>;

export const agentTool = (agents: Agents): Tool<AgentInput> =>
  defineTool({
    name: "Agent",
    family: "agents",
    aliases: ["Task"],
    description:
      "Gives a piece of work to another agent and returns what it reports. For work that can be told apart and would fill this conversation, such as a wide search. Several at once belong into one reply.",
    input: schemaOf(input, toolHeads.Agent.input),
    // What ran before is not started again: its own log says what became of it.
    traits: { concurrent: true, replay: "safe" },
    claims: async ({ subagent_type = generalKind }) => [{ action: "delegate", target: subagent_type }],
    check: async ({ subagent_type = generalKind }) => {
      const kinds = agents.kinds().map(({ name }) => name);
      return kinds.includes(subagent_type)
        ? undefined
        : `There is no agent of the kind ${subagent_type}. There are: ${kinds.join(", ")}.`;
    },
    run: async function* (given, context, signal): AsyncGenerator<Display, ToolOutcome> {
      const { description, prompt, model, effort, name, isolation } = given;
      const outcome: AgentOutcome = yield* agents.start(
        {
          description,
          prompt,
          model,
          effort,
          name,
          isolation,
          kind: given.subagent_type ?? generalKind,
          when:
            given.run_in_background === undefined
              ? undefined
              : given.run_in_background
                ? "background"
                : "foreground",
        },
        context,
        signal,
      );
      if (!outcome.ok) return failure(outcome.why);
      return {
        content: [...outcome.content],
        display: { kind: "agent", name: name ?? given.subagent_type ?? generalKind, text: description },
        data: outcome.data,
      };
    },
  });
