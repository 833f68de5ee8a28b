/** SendMessage: words for an agent that is at work. */
import * as z from "zod/mini";
import { shorten } from "../kernel/text.ts";
import type { Agents } from "../ports/agents.ts";
import type { Tool } from "../ports/tool.ts";
import { text } from "../protocol/message.ts";
import { builtInTool, failure, textField } from "./built-in.ts";

const input = z.object({
  to: textField(
    "The agent's name or id; main is the agent that started you; bridge:ID is a session on another machine.",
    z.minLength(1),
  ),
  message: textField("The message.", z.minLength(1)),
});

export const sendMessageTool = (agents: Agents): Tool<z.infer<typeof input>> =>
  builtInTool({
    name: "SendMessage",
    description:
      "Sends a message to an agent you started: more work, a question, a correction. One that has finished resumes with all it knew.",
    input,
    // What another machine is told leaves this one: that is asked about.
    claims: async ({ to }) => [{ action: to.startsWith("bridge:") ? "use" : "delegate", target: to }],
    run: async function* ({ to, message }, context, signal) {
      const sent = await agents.send({ to, text: message }, context, signal);
      if (!sent.ok) return failure(sent.why);
      return {
        content: [
          text(
            to.startsWith("bridge:") ? `${to} was told.` : `${to} was told. You are told when it answers.`,
          ),
        ],
        display: { kind: "agent", name: to, text: shorten(message, 200) },
        data: { success: true, to },
      };
    },
  });
