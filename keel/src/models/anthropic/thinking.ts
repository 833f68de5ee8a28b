/** How each model is told to think, or not to: the wire changed from budgets to effort, and some cannot be told at all. */
import type { MessageCreateParamsStreaming } from "@anthropic-ai/sdk/resources/messages";
import { never } from "../../kernel/never.ts";
import type { ModelRequest } from "../../ports/model.ts";
import type { ModelInfo } from "../../protocol/usage.ts";
import { undated } from "../catalog.ts";
import { type Effort, effortFor, efforts } from "../encoding.ts";

export type ThinkingFields = Pick<MessageCreateParamsStreaming, "thinking" | "output_config">;

export function thinkingFields(request: ModelRequest, info: ModelInfo): ThinkingFields {
  const traits = traitsOf(request.model, info);
  const thinking = thinkingOf(request, info, traits);
  // Without thinking none above `high`.
  const most = thinking?.type === "disabled" ? "high" : "max";
  const effort = effortFor(request.effort, traits.efforts, most);
  return { ...(thinking ? { thinking } : {}), ...(effort ? { output_config: { effort } } : {}) };
}

type ThinkingTraits = {
  /** How to switch thinking off: say nothing, say so, keep only notes between tools, or not at all. */
  readonly off: "omit" | "disabled" | "between_tools" | "never";
  /** The levels that it takes; none: the field is refused. */
  readonly efforts: readonly Effort[];
};

const every: ThinkingTraits = { off: "omit", efforts };
const withoutXhigh = efforts.filter((level) => level !== "xhigh");
const upToHigh = efforts.filter((level) => level !== "xhigh" && level !== "max");

/** Where a model differs from `every`. */
const known: Readonly<Record<string, ThinkingTraits>> = {
  "claude-fable-5-1": { off: "never", efforts },
  "claude-fable-5": { off: "never", efforts },
  "claude-opus-5-5": { off: "never", efforts },
  "claude-opus-5": { off: "disabled", efforts },
  "claude-sonnet-5-5": { off: "between_tools", efforts },
  "claude-sonnet-5": { off: "disabled", efforts },
  "claude-haiku-5-5": { off: "disabled", efforts },
  "claude-opus-4-6": { off: "omit", efforts: withoutXhigh },
  "claude-sonnet-4-6": { off: "omit", efforts: withoutXhigh },
  "claude-opus-4-5": { off: "omit", efforts: upToHigh },
};

/** The levels of effort that a model takes. */
export const effortsOf = (model: string, info: ModelInfo): readonly Effort[] => traitsOf(model, info).efforts;

function traitsOf(model: string, info: ModelInfo): ThinkingTraits {
  const id = undated(model);
  if (Object.hasOwn(known, id)) return known[id] ?? every;
  return info.abilities.thinking === "adaptive" ? every : { off: "omit", efforts: [] };
}

/** The provider takes no smaller budget. */
const minBudgetTokens = 1_024;
/** When a model with budgets is left to judge for itself. */
const usualBudgetTokens = 16_000;

function thinkingOf(
  { thinking, maxOutputTokens }: ModelRequest,
  info: ModelInfo,
  { off }: ThinkingTraits,
): ThinkingFields["thinking"] {
  const ability = info.abilities.thinking;
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
