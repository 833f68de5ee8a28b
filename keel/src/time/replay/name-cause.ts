/** Why a request is another one than it was: from the recorded event and the one that today's engine would record. */

import { canonicalJson } from "../../kernel/json.ts";
import type { DurableEvent } from "../../protocol/event/durable.ts";
import { type EventHandlers, handle } from "../../protocol/event/envelope.ts";
import type { RequestSums } from "../../protocol/usage.ts";
import { type DifferenceCause, excerpts, type Started } from "./replayed.ts";

export type NamedCause = {
  readonly cause: DifferenceCause;
  readonly what: string;
  readonly recorded: string;
  readonly today: string;
};

type PromptFixed = Extract<DurableEvent, { type: "prompt.fixed" }>;
type ComparedPrompt = {
  readonly system: readonly string[];
  readonly tools: readonly PromptFixed["tools"][number][];
};

/** `prompt`: what requests started with so far. */
export function nameCause(
  recorded: DurableEvent,
  today: DurableEvent,
  prompt: ComparedPrompt | null,
): NamedCause {
  const shown = excerpts(canonicalJson(recorded), canonicalJson(today));
  if (today.type === "prompt.fixed" || recorded.type === "prompt.fixed") {
    const [then, now] = [promptOf(recorded) ?? prompt, promptOf(today) ?? prompt];
    return (then && now && ofPrompts(then, now)) ?? { cause: "prompt", what: today.type, ...shown };
  }
  if (recorded.type === "model.started" && today.type === "model.started")
    return { ...ofRequests(recorded, today), ...shown };
  if (recorded.type !== today.type)
    return {
      cause: causeOf(today) ?? causeOf(recorded) ?? "code",
      what: `${recorded.type} was recorded, ${today.type} would come`,
      ...shown,
    };
  if ("costUsd" in recorded && "costUsd" in today && sameWithoutCost(recorded, today))
    return { cause: "prices", what: "the same use costs another sum", ...shown };
  return { cause: causeOf(today) ?? "code", what: `${today.type} is another one`, ...shown };
}

const promptOf = (event: DurableEvent): PromptFixed | undefined =>
  event.type === "prompt.fixed" ? event : undefined;

function ofPrompts(then: ComparedPrompt, now: ComparedPrompt): NamedCause | undefined {
  const part = Array.from({ length: Math.max(then.system.length, now.system.length) }, (_, at) => at).find(
    (at) => then.system[at] !== now.system[at],
  );
  if (part !== undefined)
    return {
      cause: "prompt",
      what: `part ${part + 1} of the system prompt`,
      ...excerpts(then.system[part] ?? "", now.system[part] ?? ""),
    };
  const names = [...new Set([...then.tools, ...now.tools].map(({ name }) => name))];
  for (const name of names) {
    const texts = [then, now].map(({ tools }) => {
      const spec = tools.find((tool) => tool.name === name);
      return spec ? canonicalJson(spec) : "";
    });
    const [before = "", after = ""] = texts;
    if (before !== after) return { cause: "tools", what: `the tool ${name}`, ...excerpts(before, after) };
  }
  const order = (tools: readonly { readonly name: string }[]) => tools.map(({ name }) => name).join(", ");
  if (order(then.tools) === order(now.tools)) return undefined;
  return { cause: "tools", what: "the order of the tools", ...excerpts(order(then.tools), order(now.tools)) };
}

/** Which part of the bytes: the sums of the parts say it, in the order in which a provider compares them. */
function ofRequests(recorded: Started, today: Started): Pick<NamedCause, "cause" | "what"> {
  if (recorded.purpose !== today.purpose)
    return { cause: "compaction", what: `a request for ${recorded.purpose}, ${today.purpose} today` };
  if (recorded.model !== today.model)
    return { cause: "settings", what: `the model was ${recorded.model}, and is ${today.model}` };
  const [then, now] = [recorded.sums, today.sums];
  if (then && now && then.body.digest !== now.body.digest) return ofSums(then, now);
  return { cause: "code", what: "the request is counted or predicted in another way" };
}

function ofSums(then: RequestSums, now: RequestSums): Pick<NamedCause, "cause" | "what"> {
  if (then.tools?.digest !== now.tools?.digest) return { cause: "tools", what: "the bytes of the tools" };
  if (then.system?.digest !== now.system?.digest)
    return { cause: "prompt", what: "the bytes of the system prompt" };
  const at = (then.prefixes ?? []).find((prefix, index) => prefix.digest !== now.prefixes?.[index]?.digest);
  if (at) return { cause: "messages", what: `the bytes of the first ${at.messages} messages` };
  return { cause: "settings", what: "the bytes outside of tools, system prompt and messages" };
}

const causes: EventHandlers<DurableEvent, [], DifferenceCause> = {
  "context.compacted": () => "compaction",
  "compaction.requested": () => "compaction",
  "settings.changed": () => "settings",
  "context.added": ({ why }) =>
    ["instructions", "skills", "agents", "editor"].includes(why) ? "instructions" : "code",
};

const causeOf = (event: DurableEvent): DifferenceCause | undefined => handle(causes, event);

const sameWithoutCost = (left: object, right: object): boolean =>
  canonicalJson({ ...left, costUsd: 0 }) === canonicalJson({ ...right, costUsd: 0 });
