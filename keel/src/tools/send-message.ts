/** SendMessage: words for an agent that is at work. */
import * as z from "zod/mini";
import { schemaOf } from "../kernel/schema.ts";
import { shorten } from "../kernel/text.ts";
import type { Agents } from "../ports/agents.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { Tool, ToolOutcome } from "../ports/tool.ts";
import { text } from "../protocol/message.ts";
import { failure } from "./failure.ts";
import { toolHeads } from "./heads.ts";

const input = z.object({
  to: z
    .string()
    .check(z.minLength(1), z.describe("The agent's name or id; main for the one that started you.")),
  message: z.string().check(z.minLength(1), z.describe("What to tell it.")),
});
type SendMessageInput = z.infer<typeof input>;

export const sendMessageTool = (agents: Agents): Tool<SendMessageInput> =>
  defineTool({
    name: "SendMessage",
    description:
      "Tells an agent something that you have started and that is still known: more work, a question, a correction.",
    input: schemaOf(input, toolHeads.SendMessage.input),
    claims: async ({ to }) => [{ action: "delegate", target: to }],
    run: async function* ({ to, message }, context, signal): AsyncGenerator<never, ToolOutcome> {
      const sent = await agents.send({ to, text: message }, context, signal);
      if (!sent.ok) return failure(sent.why);
      return {
        content: [text(`${to} was told. You are told when it answers.`)],
        display: { kind: "agent", name: to, text: shorten(message, 200) },
        data: { success: true, to },
      };
    },
  });
