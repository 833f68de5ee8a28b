/** SendMessage: words for an agent that is at work. */
import * as z from "zod/mini";
import { shorten } from "../kernel/text.ts";
import type { Agents } from "../ports/agents.ts";
import type { Tool } from "../ports/tool.ts";
import { isFarAddress, text } from "../protocol/message.ts";
import { builtInTool, failure, flagField, textField } from "./built-in.ts";

const input = z.object({
  to: textField(
    "The agent's name or id; main is the agent that started you, * everybody else in your team; session:ID is another session here, uds:SOCKET one of another process, bridge:ID one on another machine.",
    z.minLength(1),
  ),
  message: textField("The message.", z.minLength(1)),
  approve_plan: flagField("Approve its plan, so that it carries it out."),
});

export const sendMessageTool = (agents: Agents): Tool<z.infer<typeof input>> =>
  builtInTool({
    name: "SendMessage",
    description:
      "Sends a message to an agent you started: more work, a question, a correction. One that has finished resumes with all it knew.",
    input,
    // One that was sent before a crash is known by its id there, and not taken twice. Another machine knows no ids.
    traits: ({ to }) => ({ replay: to.startsWith("bridge:") ? "never" : "safe" }),
    // What another session is told leaves this one: that is asked about.
    claims: async ({ to }) => [{ action: isFarAddress(to) ? "use" : "delegate", target: to }],
    run: async function* ({ to, message, approve_plan: approves }, context, signal) {
      const sent = await agents.send({ to, text: message, approves }, context, signal);
      if (!sent.ok) return failure(sent.why);
      return {
        content: [
          text(
            isFarAddress(to)
              ? `${to} was told.`
              : `${sent.told === undefined ? to : `${sent.told} others`} ${sent.told === undefined || sent.told === 1 ? "was" : "were"} told. You are told when there is an answer.`,
          ),
        ],
        display: { kind: "agent", name: to, text: shorten(message, 200) },
        data: { success: true, to },
      };
    },
  });
