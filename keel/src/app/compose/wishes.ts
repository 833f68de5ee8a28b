/**
 * What somebody wants of a model's thinking and effort, and the model does not take: it is not sent, or the nearest that
 * it takes, and whoever asked is told. Pure.
 */
import { effortsOf as claudeEfforts } from "../../models/anthropic/thinking.ts";
import { effortFor } from "../../models/encoding.ts";
import { effortsOf as openaiEfforts } from "../../models/openai/traits.ts";
import type { LogNotice } from "../../ports/store.ts";
import type { Effort, ThinkingMode } from "../../protocol/settings.ts";
import type { ModelInfo } from "../../protocol/usage.ts";

export type Wishes = {
  readonly thinking?: ThinkingMode | undefined;
  readonly effort?: Effort | undefined;
};

/** The levels of effort that a model takes. */
export const effortsAt = (model: ModelInfo): readonly Effort[] =>
  isOverChat(model) ? openaiEfforts(model.id).levels : claudeEfforts(model);

/** OpenAI's models over chat completions: what they take is a matter of their names. */
const isOverChat = ({ provider, abilities }: ModelInfo): boolean =>
  provider === "openai" && abilities.thinking === "none";

/** `tools`: whether the model is offered some. */
export function unmetWishes(wishes: Wishes, model: ModelInfo, tools: "some" | "none"): LogNotice[] {
  return [...ofThinking(wishes, model), ...ofEffort(wishes, model, tools)];
}

function ofThinking({ thinking }: Wishes, { id, abilities }: ModelInfo): LogNotice[] {
  const { thinking: ability, thinkingOff } = abilities;
  switch (thinking?.kind) {
    case undefined:
    case "usual":
      return [];
    case "off":
      return ability !== "none" && thinkingOff === "never"
        ? [warning(`${id} always thinks: it cannot be told not to.`)]
        : [];
    case "adaptive":
      return ability === "none" ? [warning(`${id} is not told to think: nothing is known of how.`)] : [];
    case "budget":
      if (ability === "none") return [warning(`${id} is not told to think: nothing is known of how.`)];
      if (ability === "budget") return [];
      return [
        {
          level: "info",
          text: `${id} judges itself how much to think: ${thinking.tokens} tokens are not sent.`,
        },
      ];
  }
}

function ofEffort({ effort, thinking }: Wishes, model: ModelInfo, tools: "some" | "none"): LogNotice[] {
  if (effort === undefined) return [];
  const { id, abilities } = model;
  const levels = effortsAt(model);
  if (levels.length === 0) return [warning(`${id} takes no level of effort: ${effort} is not sent.`)];
  if (isOverChat(model) && tools === "some" && !openaiEfforts(id).withTools)
    return [warning(`${id} calls tools only when it does not think: effort ${effort} is not sent.`)];
  const isOff = thinking?.kind === "off" && abilities.thinkingOff === "disabled";
  const sent = effortFor(effort, levels, isOff ? "high" : "max");
  if (sent === effort) return [];
  return [
    warning(`${id} does not take effort ${effort}${isOff ? " without thinking" : ""}: ${sent} is sent.`),
  ];
}

const warning = (text: string): LogNotice => ({ level: "warning", text });
