/**
 * How a request is written for whom: the wire is spoken by many servers, and OpenAI's own models differ in what they
 * take. Known from data; what a server refuses all the same is learnt from its refusal (`serverTraitsMemory`) and not sent again.
 */
import { isObject } from "../../kernel/json.ts";
import type { ModelRequest } from "../../ports/model.ts";
import { type Effort, efforts } from "../../protocol/settings.ts";
import { undated } from "../catalog.ts";
import { effortFor } from "../encoding.ts";
import type { Endpoint } from "../providers.ts";

/** The fields of a request that not every server takes. */
export type ServerTraits = {
  readonly limit: "max_tokens" | "max_completion_tokens";
  /** Ask for the count of tokens at the end of a stream. */
  readonly countsTokens: boolean;
  /** Requests of one session go to the same cache. */
  readonly cacheKey: boolean;
  readonly effort: EffortRule;
  /** What some models cannot do at all: be offered tools, see images, have several calls in one reply. */
  readonly tools: boolean;
  readonly images: boolean;
  readonly parallel: boolean;
};

/** What a person should know of what is left out. */
export const lossesOf = (
  model: string,
  { tools, images }: Pick<ServerTraits, "tools" | "images">,
): string[] => [
  ...(tools ? [] : [`${model} takes no tools: it is asked without any, and can only answer.`]),
  ...(images ? [] : [`${model} takes no images: they are left out, and it is told so.`]),
];

/**
 * `levels`: the levels that it takes. `none_with_tools`: this wire lets such a model call tools only when it does not
 * think. `none`: it must always be told not to think. `unsaid`: the field is refused.
 */
export type EffortRule =
  | { readonly kind: "levels" | "none_with_tools"; readonly levels: readonly string[] }
  | { readonly kind: "none" }
  | { readonly kind: "unsaid" };

export function traitsFor(model: string, { baseUrl }: Pick<Endpoint, "baseUrl">): ServerTraits {
  const isOpenAi = URL.parse(baseUrl)?.hostname === "api.openai.com";
  const family = families.find(({ names }) => names.test(undated(model)));
  return {
    // OpenAI takes the newer name for every model; most other servers know only the older one.
    limit: isOpenAi || family ? "max_completion_tokens" : "max_tokens",
    countsTokens: true,
    // A field that is unknown makes some servers refuse the request.
    cacheKey: isOpenAi,
    effort: family?.effort ?? { kind: "unsaid" },
    tools: true,
    images: true,
    parallel: true,
  };
}

const toHigh = ["low", "medium", "high"];
const toExtraHigh = [...toHigh, "xhigh"];

/** OpenAI's models that think, also behind a gateway. */
const families: readonly { readonly names: RegExp; readonly effort: EffortRule }[] = [
  { names: /^(?:openai\/)?gpt-(?:[6-9]|5\.[4-9])/, effort: { kind: "none_with_tools", levels: toExtraHigh } },
  { names: /^(?:openai\/)?gpt-5\.[2-3]/, effort: { kind: "levels", levels: toExtraHigh } },
  { names: /^(?:openai\/)?(?:gpt-5|o[1-9])/, effort: { kind: "levels", levels: toHigh } },
];

/** The levels of effort that a model takes, and whether it takes them where there are tools. */
export function effortsOf(model: string): {
  readonly levels: readonly Effort[];
  readonly withTools: boolean;
} {
  const rule = families.find(({ names }) => names.test(undated(model)))?.effort;
  const levels = efforts.filter((level) => rule && "levels" in rule && rule.levels.includes(level));
  return { levels, withTools: rule?.kind === "levels" };
}

/** The value of `reasoning_effort`; undefined when nothing is to be said. */
export function effortField(
  { effort, tools }: Pick<ModelRequest, "effort" | "tools">,
  rule: EffortRule,
): string | undefined {
  if (rule.kind === "unsaid") return undefined;
  if (rule.kind === "none") return "none";
  if (rule.kind === "none_with_tools" && tools.length > 0) return "none";
  return effortFor(effort, rule.levels);
}

/** What is known about a server, and what its refusals have taught. */
export type ServerTraitsMemory = {
  traits(model: string): ServerTraits;
  /** Whether the refusal taught something new: then the request is worth writing once more. */
  learn(model: string, error: unknown): boolean;
};

export function serverTraitsMemory(endpoint: Pick<Endpoint, "baseUrl">): ServerTraitsMemory {
  const learnt = new Map<string, Partial<ServerTraits>>();
  const traits = (model: string): ServerTraits => ({
    ...traitsFor(model, endpoint),
    ...learnt.get(everyModel),
    ...learnt.get(model),
  });
  return {
    traits,
    learn(model, error) {
      const lesson = lessonIn(traits(model), error);
      if (!lesson) return false;
      const [field] = Object.keys(lesson);
      // How long a reply may be and how much is thought is a matter of the model, the rest one of the server.
      const about = ofModel.includes(field ?? "") ? model : everyModel;
      const before = learnt.get(about) ?? {};
      // A server that refuses the one and the other way is not asked a third time.
      if (field !== undefined && Object.hasOwn(before, field)) return false;
      learnt.set(about, { ...before, ...lesson });
      return true;
    },
  };
}

const everyModel = "";
const ofModel = ["limit", "effort", "tools", "images", "parallel"];

function lessonIn(traits: ServerTraits, error: unknown): Partial<ServerTraits> | undefined {
  const words = JSON.stringify(error) ?? "";
  const param = isObject(error) && typeof error["param"] === "string" ? error["param"] : "";
  const isAbout = (field: string): boolean =>
    param === "" ? new RegExp(`\\b${field}\\b`).test(words) : param.startsWith(field);
  if (traits.countsTokens && isAbout("stream_options")) return { countsTokens: false };
  if (isAbout(traits.limit))
    return { limit: traits.limit === "max_tokens" ? "max_completion_tokens" : "max_tokens" };
  if (traits.cacheKey && isAbout("prompt_cache_key")) return { cacheKey: false };
  const inability = inabilityIn(words, traits);
  if (inability) return inability;
  if (!isAbout("reasoning_effort")) return undefined;
  // It may want to be told not to think, or not to be told anything.
  if (traits.effort.kind !== "unsaid") return { effort: { kind: "unsaid" } };
  return words.includes("'none'") ? { effort: { kind: "none" } } : undefined;
}

/** Servers have no codes for what a model cannot do: only their words say it. */
function inabilityIn(
  words: string,
  { tools, images, parallel }: ServerTraits,
): Partial<ServerTraits> | undefined {
  if (
    parallel &&
    /single tool[- ]calls? at once|(?:parallel|multiple) tool[- ]calls? (?:is|are) not|only (?:supports? )?one tool[- ]call/i.test(
      words,
    )
  )
    return { parallel: false };
  if (
    tools &&
    /(?:does not|doesn't) support (?:tools?|function|tool use)|tool(?:s| use| calling)? (?:is|are) not supported/i.test(
      words,
    )
  )
    return { tools: false };
  if (
    images &&
    /(?:does not|doesn't) support (?:image|vision|multimodal)|image (?:input|content|url)?s? ?(?:is|are) not supported|not a (?:multimodal|vision) model/i.test(
      words,
    )
  )
    return { images: false };
  return undefined;
}
