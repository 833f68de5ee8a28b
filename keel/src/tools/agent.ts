/** Agent: a piece of work for another agent, which has a conversation of its own. */
import * as z from "zod/mini";
import type { Agents } from "../ports/agents.ts";
import type { Tool } from "../ports/tool.ts";
import { builtInTool, failure, flagField, textField } from "./built-in.ts";

const generalKind = "general-purpose";

const input = z.object({
  description: textField("The work in a few words.", z.minLength(1), z.maxLength(200)),
  prompt: textField(
    "All that the agent needs to know: it sees nothing of this conversation.",
    z.minLength(1),
  ),
  subagent_type: z.optional(textField(`Which kind of agent; ${generalKind} if left out.`)),
  model: z.optional(textField("Another model.")),
  effort: z.optional(
    z.enum(["low", "medium", "high", "xhigh", "max"]).check(z.describe("How hard to think.")),
  ),
  run_in_background: flagField("Whether to go on meanwhile, which is usual; you are told when it has ended."),
  name: z.optional(textField("A name to send it messages by.", z.maxLength(60))),
  isolation: z.optional(z.enum(["worktree"]).check(z.describe("worktree: in a copy of the repository."))),
});

export const agentTool = (agents: Agents): Tool<z.infer<typeof input>> =>
  builtInTool({
    name: "Agent",
    family: "agents",
    aliases: ["Task"],
    description:
      "Gives a piece of work to another agent and returns what it reports. For work that can be told apart and would fill this conversation, such as a wide search. Several at once belong into one reply.",
    input,
    // What ran before is not started again: its own log says what became of it.
    traits: { concurrent: true, replay: "safe" },
    claims: async ({ subagent_type = generalKind }) => [{ action: "delegate", target: subagent_type }],
    check: async ({ subagent_type = generalKind }) => {
      const kinds = agents.kinds().map(({ name }) => name);
      return kinds.includes(subagent_type)
        ? undefined
        : `There is no agent of the kind ${subagent_type}. There are: ${kinds.join(", ")}.`;
    },
    run: async function* (given, context, signal) {
      const { subagent_type: kind = generalKind, run_in_background: isBehind, ...order } = given;
      const { description, prompt, model, effort, name, isolation } = order;
      const when = isBehind === undefined ? undefined : isBehind ? "background" : "foreground";
      const request = { description, prompt, model, effort, name, isolation, kind, when } as const;
      const outcome = yield* agents.start(request, context, signal);
      if (!outcome.ok) return failure(outcome.why);
      return {
        content: [...outcome.content],
        display: { kind: "agent", name: name ?? kind, text: description },
        data: outcome.data,
      };
    },
  });
