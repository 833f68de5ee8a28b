/** The points of a session, as moments that hooks are called at, and what their merged opinion means there. */

import { graceMs } from "../kernel/deadline.ts";
import { isObject, type Json } from "../kernel/json.ts";
import {
  type AfterTool,
  atEveryPoint,
  type HookContext,
  type HookOpinions,
  type Hooks,
  noHooks,
} from "../ports/hooks.ts";
import { type HookMoment, hookPointOf } from "../protocol/hook.ts";
import { type ResultPart, text } from "../protocol/message.ts";
import { type Merged, merge } from "./opinion.ts";
import { type DeclaredHooks, hookFirer } from "./run.ts";

export function hooksFrom(world: DeclaredHooks): Hooks {
  if (world.hooks.length === 0) return noHooks;
  const fire = hookFirer(world);
  const watched = new Set(world.hooks.map(({ event }) => event));
  const points = atEveryPoint(({ event, opinion, tell, isLast }) => async (facts, context) => {
    if (!watched.has(event)) return meanings[opinion](merge([]));
    const moment = { hook_event_name: event, ...tell(facts) } as HookMoment;
    return meanings[opinion](await fire(moment, isLast?.(facts) ? lastChance(context) : context));
  });
  let begins: ReturnType<Hooks["begins"]> = "anew";
  return {
    ...points,
    watchTools: [...watched].some((event) => hookPointOf(event)?.matcher === "tool_name"),
    begins: () => begins,
    start(facts, context) {
      begins = undefined;
      return points.start(facts, context);
    },
    async end(facts, context) {
      if (begins !== undefined) return undefined;
      await points.end(facts, context);
      if (facts.reason === "clear") begins = "cleared";
      return undefined;
    },
  };
}

/** What a merged opinion means, by the kind of opinion that a point asks for. */
const meanings: { readonly [K in keyof HookOpinions]: (merged: Merged) => HookOpinions[K] } = {
  none: () => undefined,
  context: ({ context, title }) => ({ context, title }),
  input: ({ block, stop, context, title }) => ({ block: block ?? stop, context, title }),
  verdict: ({ verdict, reason, input, context, stop }) => ({
    context,
    input,
    stop,
    ...(verdict === "defer" ? { defer: true } : {}),
    ...(verdict && verdict !== "defer" ? { decision: { verdict, reason } } : {}),
  }),
  answer: ({ answer }) => answer,
  result: afterwards,
  objection: ({ block, stop, context }) => ({
    stop,
    objection: block ?? (context.length > 0 ? context.join("\n") : undefined),
  }),
  instructions: ({ context }) => (context.length > 0 ? { instructions: context.join("\n") } : {}),
  refusal: ({ verdict, reason }) => (verdict === "deny" ? { deny: reason } : {}),
};

/** An objection to what has happened cannot undo it: the model reads it. */
function afterwards({ context, block, output, stop }: Merged): AfterTool {
  const said = block === undefined ? context : [...context, block];
  if (output === undefined) return { context: said, stop };
  return { context: said, stop, data: output, content: partsOf(output) };
}

/** What the model reads of a result that a hook replaced as data. */
function partsOf(output: Json): ResultPart[] {
  if (typeof output === "string") return [text(output)];
  if (!isObject(output)) return [text(JSON.stringify(output))];
  const { content, stdout, stderr } = output as { [name: string]: Json };
  if (typeof stdout === "string")
    return [text([stdout, typeof stderr === "string" ? stderr : ""].filter(Boolean).join("\n"))];
  const texts = Array.isArray(content)
    ? content.flatMap((part) =>
        isObject(part) && typeof part["text"] === "string" ? [text(part["text"])] : [],
      )
    : [];
  return texts.length > 0 ? texts : [text(JSON.stringify(output))];
}

/** The turn or the session is over: what is told now must not hold anybody up. */
function lastChance(context: HookContext): HookContext {
  return { ...context, signal: new AbortController().signal, maxMs: graceMs };
}
