/** What the session asks, in the host's words. */
import { isObject } from "../../kernel/json.ts";
import type { Ask } from "../../protocol/ask.ts";
import type { RunnerEvent } from "./events.ts";

export function askEvent(ask: Ask): RunnerEvent {
  const { id: requestId, callId: toolUseId, input, origin } = ask;
  const fields = isObject(input) ? input : {};
  const common = {
    requestId,
    ...(toolUseId === undefined ? {} : { toolUseId }),
    ...(origin ? { agentId: origin.agentId, parentToolUseId: origin.parentCallId } : {}),
  };
  switch (ask.kind) {
    case "question":
      return { type: "user_question_request", ...common, questions: fields["questions"] ?? [] };
    case "plan": {
      const { planFilePath: planFile } = fields;
      const plan = typeof fields["plan"] === "string" ? fields["plan"] : "";
      return {
        type: "plan_approval_request",
        ...common,
        plan,
        ...(typeof planFile === "string" ? { planFile } : {}),
      };
    }
    default: {
      const { kind, tool, title, reason, options, schema } = ask;
      return {
        type: "tool_approval_request",
        ...common,
        kind: kind === "permission" || kind === "elicitation" ? kind : "other",
        ...(tool === undefined ? {} : { tool }),
        title,
        ...(reason === undefined ? {} : { reason }),
        ...(input === undefined ? {} : { input }),
        options: options.map(({ id, label, verdict, rule, preview }) => ({
          id,
          label,
          verdict,
          ...(rule === undefined ? {} : { rule }),
          ...(preview === undefined ? {} : { preview }),
        })),
        ...(schema === undefined ? {} : { schema }),
      };
    }
  }
}
