/** The points of a session, as moments that hooks are called at, and what their merged opinion means there. */

import { graceMs } from "../kernel/deadline.ts";
import { isObject, type Json } from "../kernel/json.ts";
import {
  type AfterTool,
  type AtStop,
  type CallFacts,
  type HookContext,
  type Hooks,
  noHooks,
} from "../ports/hooks.ts";
import type { HookEvent } from "../protocol/hook.ts";
import { type ResultPart, text, textOf } from "../protocol/message.ts";
import type { Merged } from "./merge.ts";
import { type Hook, hookFirer } from "./run.ts";

export function hooksFrom(world: {
  hooks: readonly Hook[];
  transcript: (session: string) => string | undefined;
}): Hooks {
  if (world.hooks.length === 0) return noHooks;
  const fire = hookFirer(world);
  const any = (...events: HookEvent[]): boolean => world.hooks.some(({ event }) => events.includes(event));
  let begins: ReturnType<Hooks["begins"]> = "anew";
  return {
    watchTools: any(
      "PreToolUse",
      "PostToolUse",
      "PostToolUseFailure",
      "PermissionRequest",
      "PermissionDenied",
    ),
    begins: () => begins,
    async start({ source, model }, hookContext) {
      begins = undefined;
      const { context, title } = await fire({ hook_event_name: "SessionStart", source, model }, hookContext);
      return { context, title };
    },
    async end({ reason }, hookContext) {
      if (begins !== undefined) return;
      await fire({ hook_event_name: "SessionEnd", reason }, lastChance(hookContext));
      if (reason === "clear") begins = "cleared";
    },
    async input({ content, from }, hookContext) {
      const prompt = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
      const { block, stop, context } = await fire(
        { hook_event_name: "UserPromptSubmit", prompt, source: from.kind },
        hookContext,
      );
      return { block: block ?? stop, context };
    },
    async beforeTool(call, hookContext) {
      const merged = await fire({ hook_event_name: "PreToolUse", ...toolOf(call) }, hookContext);
      const { verdict, reason, input, context, stop } = merged;
      return {
        context,
        input,
        stop,
        ...(verdict === "defer" ? { defer: true } : {}),
        ...(verdict && verdict !== "defer" ? { decision: { verdict, reason } } : {}),
      };
    },
    async permission({ tool, input, rules }, hookContext) {
      if (!any("PermissionRequest")) return undefined;
      const moment = {
        hook_event_name: "PermissionRequest",
        tool_name: tool,
        tool_input: input,
        ...(rules.length > 0 ? { permission_suggestions: rules.map(suggestion) } : {}),
      } as const;
      return (await fire(moment, hookContext)).answer;
    },
    async denied({ reason, ...call }, hookContext) {
      await fire({ hook_event_name: "PermissionDenied", ...toolOf(call), reason }, hookContext);
    },
    async afterTool({ failed, interrupted, content, data, ms, ...call }, hookContext) {
      const facts = { ...toolOf(call), duration_ms: ms };
      const merged = failed
        ? await fire(
            {
              hook_event_name: "PostToolUseFailure",
              ...facts,
              error: textOf(content),
              is_interrupt: interrupted,
            },
            interrupted ? lastChance(hookContext) : hookContext,
          )
        : await fire(
            { hook_event_name: "PostToolUse", ...facts, tool_response: data ?? textOf(content) },
            hookContext,
          );
      return afterwards(merged);
    },
    async afterBatch(calls, hookContext) {
      if (!any("PostToolBatch")) return { context: [] };
      const tool_calls = calls.map(({ response, ...call }) => ({
        ...toolOf(call),
        ...(response === undefined ? {} : { tool_response: response }),
      }));
      return afterwards(await fire({ hook_event_name: "PostToolBatch", tool_calls }, hookContext));
    },
    async notify({ message, title, kind }, hookContext) {
      await fire({ hook_event_name: "Notification", message, title, notification_type: kind }, hookContext);
    },
    async stop({ objections, lastText }, hookContext) {
      const moment = {
        hook_event_name: "Stop",
        stop_hook_active: objections > 0,
        last_assistant_message: lastText,
      } as const;
      return atStop(await fire(moment, hookContext));
    },
    async stopFailed({ error, details, lastText }, hookContext) {
      await fire(
        { hook_event_name: "StopFailure", error, error_details: details, last_assistant_message: lastText },
        hookContext,
      );
    },
    async compact({ trigger, instructions }, hookContext) {
      const moment = {
        hook_event_name: "PreCompact",
        trigger,
        custom_instructions: instructions ?? null,
      } as const;
      const { context } = await fire(moment, hookContext);
      return context.length > 0 ? { instructions: context.join("\n") } : {};
    },
    async compacted({ trigger, summary }, hookContext) {
      await fire({ hook_event_name: "PostCompact", trigger, compact_summary: summary }, hookContext);
    },
    async modelSwitch(facts, hookContext) {
      if (!any("PreModelSwitch")) return {};
      const { verdict, reason } = await fire({ hook_event_name: "PreModelSwitch", ...facts }, hookContext);
      return verdict === "deny" ? { deny: reason } : {};
    },
    async modelSwitched(facts, hookContext) {
      if (!any("PostModelSwitch")) return { context: [] };
      const { context } = await fire({ hook_event_name: "PostModelSwitch", ...facts }, hookContext);
      return { context };
    },
    async observe(moment, hookContext) {
      if (any(moment.hook_event_name)) await fire(moment, hookContext);
    },
    async agentStarted({ agentId, kind }, hookContext) {
      const { context } = await fire(
        { hook_event_name: "SubagentStart", agent_id: agentId, agent_type: kind },
        hookContext,
      );
      return { context };
    },
    async agentStopped({ agentId, kind, objections, lastText, transcript }, hookContext) {
      const merged = await fire(
        {
          hook_event_name: "SubagentStop",
          stop_hook_active: objections > 0,
          agent_id: agentId,
          agent_type: kind,
          agent_transcript_path: transcript,
          last_assistant_message: lastText,
        },
        hookContext,
      );
      return atStop(merged);
    },
  };
}

const toolOf = ({ callId, tool, input }: CallFacts) => ({
  tool_name: tool,
  tool_input: input,
  tool_use_id: callId,
});

/** A rule that is offered, in the words in which a hook may answer. */
function suggestion(rule: string): Json {
  const [, toolName = rule, ruleContent] = /^([^(]+)(?:\((.*)\))?$/s.exec(rule) ?? [];
  const value = { toolName, ...(ruleContent === undefined ? {} : { ruleContent }) };
  return { type: "addRules", behavior: "allow", destination: "session", rules: [value] };
}

const atStop = ({ block, stop, context }: Merged): AtStop => ({
  stop,
  objection: block ?? (context.length > 0 ? context.join("\n") : undefined),
});

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
