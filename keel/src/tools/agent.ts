/** Agent: a piece of work for another agent, which has a conversation of its own. */

import * as z from "zod/mini";
import { present } from "../kernel/json.ts";
import { named } from "../kernel/list.ts";
import type { Agents } from "../ports/agents.ts";
import type { Tool } from "../ports/tool.ts";
import { builtInTool, failure, flagField, textField } from "./built-in.ts";

const generalKind = "general-purpose";

const input = z.object({
  description: textField("The task in three to five words.", z.minLength(1), z.maxLength(200)),
  prompt: textField(
    "The task, complete in itself: the agent sees nothing of this conversation.",
    z.minLength(1),
  ),
  subagent_type: z.optional(textField(`The kind of agent; default ${generalKind}.`)),
  model: z.optional(textField("Override the model.")),
  effort: z.optional(
    z.enum(["low", "medium", "high", "xhigh", "max"]).check(z.describe("Reasoning effort.")),
  ),
  run_in_background: flagField(
    "Default true: return at once; you are notified when the agent finishes. false: wait for its report.",
  ),
  name: z.optional(textField("A name to address it by in SendMessage.", z.maxLength(60))),
  mode: z.optional(
    z.enum(["plan"]).check(z.describe("plan: it plans first; SendMessage with approve_plan lets it go on.")),
  ),
  isolation: z.optional(z.enum(["worktree"]).check(z.describe("worktree: work in a separate git worktree."))),
});

export const agentTool = (agents: Agents): Tool<z.infer<typeof input>> =>
  builtInTool({
    name: "Agent",
    family: "agents",
    aliases: ["Task"],
    description:
      "Starts an agent that works on a task in a conversation of its own and reports the result. Use it for self-contained work that would fill this conversation (a broad search) or that can run in parallel; for a file or symbol you can name, use Read, Glob or Grep. Start independent agents in one reply. Its report is for you: tell the user what matters. Its claims are not proof; check important ones.",
    input,
    // What ran before is not started again: its own log says what became of it.
    traits: { concurrent: true, replay: "safe" },
    // By the name that its rules know, in whatever case it was asked for.
    claims: async ({ subagent_type = generalKind }) => [
      { action: "delegate", target: named(agents.kinds(), subagent_type)?.name ?? subagent_type },
    ],
    check: async ({ subagent_type = generalKind }) => {
      const kinds = agents.kinds();
      if (named(kinds, subagent_type)) return undefined;
      const names = kinds.map(({ name }) => name).join(", ");
      return `There is no agent of the kind ${subagent_type}. There are: ${names}.`;
    },
    run: async function* (given, context, signal) {
      const { subagent_type: kind = generalKind, run_in_background: isBehind, ...order } = given;
      const { description, prompt, model, effort, name, isolation, mode } = order;
      const when = isBehind === undefined ? undefined : isBehind ? "background" : "foreground";
      const plans = mode === "plan" ? true : undefined;
      const request = { description, prompt, model, effort, name, isolation, kind, when } as const;
      const outcome = yield* agents.start({ ...request, ...present({ plans }) }, context, signal);
      if (!outcome.ok) return failure(outcome.why);
      return {
        content: [...outcome.content],
        display: { kind: "agent", name: name ?? kind, text: description },
        data: outcome.data,
      };
    },
  });
