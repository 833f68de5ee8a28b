/** How each model is told to think, or not to: the wire changed from budgets to effort, and some cannot be told at all. */
import type { MessageCreateParamsStreaming } from "@anthropic-ai/sdk/resources/messages";
import { never } from "../../kernel/result.ts";
import type { ModelRequest } from "../../ports/model.ts";
import { type Effort, efforts } from "../../protocol/settings.ts";
import type { ModelInfo } from "../../protocol/usage.ts";
import { effortFor } from "../encoding.ts";

export type ThinkingFields = Pick<MessageCreateParamsStreaming, "thinking" | "output_config">;

export function thinkingFields(request: ModelRequest, info: ModelInfo): ThinkingFields {
  const thinking = thinkingOf(request, info);
  // Without thinking none above `high`.
  const most = thinking?.type === "disabled" ? "high" : "max";
  const effort = effortFor(request.effort, effortsOf(info), most);
  return { ...(thinking ? { thinking } : {}), ...(effort ? { output_config: { effort } } : {}) };
}

/** The levels of effort that a model takes; none: the field is refused. */
export const effortsOf = ({ abilities }: Pick<ModelInfo, "abilities">): readonly Effort[] =>
  abilities.efforts ?? (abilities.thinking === "adaptive" ? efforts : []);

/** The provider takes no smaller budget. */
const minBudgetTokens = 1_024;
/** When a model with budgets is left to judge for itself. */
const usualBudgetTokens = 16_000;

function thinkingOf(
  { thinking, maxOutputTokens }: ModelRequest,
  { abilities: { thinking: ability, thinkingOff: off } }: ModelInfo,
): ThinkingFields["thinking"] {
  if (ability === "none") return undefined;
  switch (thinking.kind) {
    case "off":
      return off === "disabled" || off === "between_tools" ? { type: off } : undefined;
    case "adaptive":
    case "budget": {
      // Without `display` the newer ones think unseen; a screen would stand still.
      if (ability === "adaptive") return { type: "adaptive", display: "summarized" };
      const wanted = thinking.kind === "budget" ? thinking.tokens : usualBudgetTokens;
      // The budget is a part of the reply's length, and some must be left for the reply.
      const budget = Math.min(Math.floor(wanted), maxOutputTokens - minBudgetTokens);
      return budget < minBudgetTokens ? undefined : { type: "enabled", budget_tokens: budget };
    }
    default:
      return never(thinking);
  }
}
