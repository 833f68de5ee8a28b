/** The points of a session, as moments that hooks are called at, and what their merged opinion means there. */

import { graceMs } from "../kernel/deadline.ts";
import { isObject, type Json } from "../kernel/json.ts";
import {
  type AfterTool,
  type AtStop,
  type CallFacts,
  type HookSite,
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
    async start({ source, model }, site) {
      begins = undefined;
      const { context, title } = await fire({ hook_event_name: "SessionStart", source, model }, site);
      return { context, title };
    },
    async end({ reason }, site) {
      if (begins !== undefined) return;
      await fire({ hook_event_name: "SessionEnd", reason }, lastChance(site));
      if (reason === "clear") begins = "cleared";
    },
    async input({ content, from }, site) {
      const prompt = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
      const { block, stop, context } = await fire(
        { hook_event_name: "UserPromptSubmit", prompt, source: from.kind },
        site,
      );
      return { block: block ?? stop, context };
    },
    async beforeTool(call, site) {
      const merged = await fire({ hook_event_name: "PreToolUse", ...toolOf(call) }, site);
      const { verdict, reason, input, context, stop } = merged;
      return {
        context,
        input,
        stop,
        ...(verdict === "defer" ? { defer: true } : {}),
        ...(verdict && verdict !== "defer" ? { decision: { verdict, reason } } : {}),
      };
    },
    async permission({ tool, input, rules }, site) {
      if (!any("PermissionRequest")) return undefined;
      const moment = {
        hook_event_name: "PermissionRequest",
        tool_name: tool,
        tool_input: input,
        ...(rules.length > 0 ? { permission_suggestions: rules.map(suggestion) } : {}),
      } as const;
      return (await fire(moment, site)).answer;
    },
    async denied({ reason, ...call }, site) {
      await fire({ hook_event_name: "PermissionDenied", ...toolOf(call), reason }, site);
    },
    async afterTool({ failed, interrupted, content, data, ms, ...call }, site) {
      const facts = { ...toolOf(call), duration_ms: ms };
      const merged = failed
        ? await fire(
            {
              hook_event_name: "PostToolUseFailure",
              ...facts,
              error: textOf(content),
              is_interrupt: interrupted,
            },
            interrupted ? lastChance(site) : site,
          )
        : await fire(
            { hook_event_name: "PostToolUse", ...facts, tool_response: data ?? textOf(content) },
            site,
          );
      return afterwards(merged);
    },
    async afterBatch(calls, site) {
      if (!any("PostToolBatch")) return { context: [] };
      const tool_calls = calls.map(({ response, ...call }) => ({
        ...toolOf(call),
        ...(response === undefined ? {} : { tool_response: response }),
      }));
      return afterwards(await fire({ hook_event_name: "PostToolBatch", tool_calls }, site));
    },
    async notify({ message, title, kind }, site) {
      await fire({ hook_event_name: "Notification", message, title, notification_type: kind }, site);
    },
    async stop({ objections, lastText }, site) {
      const moment = {
        hook_event_name: "Stop",
        stop_hook_active: objections > 0,
        last_assistant_message: lastText,
      } as const;
      return atStop(await fire(moment, site));
    },
    async stopFailed({ error, details, lastText }, site) {
      await fire(
        { hook_event_name: "StopFailure", error, error_details: details, last_assistant_message: lastText },
        site,
      );
    },
    async compact({ trigger, instructions }, site) {
      const moment = {
        hook_event_name: "PreCompact",
        trigger,
        custom_instructions: instructions ?? null,
      } as const;
      const { context } = await fire(moment, site);
      return context.length > 0 ? { instructions: context.join("\n") } : {};
    },
    async compacted({ trigger, summary }, site) {
      await fire({ hook_event_name: "PostCompact", trigger, compact_summary: summary }, site);
    },
    async modelSwitch(facts, site) {
      if (!any("PreModelSwitch")) return {};
      const { verdict, reason } = await fire({ hook_event_name: "PreModelSwitch", ...facts }, site);
      return verdict === "deny" ? { deny: reason } : {};
    },
    async modelSwitched(facts, site) {
      if (!any("PostModelSwitch")) return { context: [] };
      const { context } = await fire({ hook_event_name: "PostModelSwitch", ...facts }, site);
      return { context };
    },
    async observe(moment, site) {
      if (any(moment.hook_event_name)) await fire(moment, site);
    },
    async agentStarted({ agentId, kind }, site) {
      const { context } = await fire(
        { hook_event_name: "SubagentStart", agent_id: agentId, agent_type: kind },
        site,
      );
      return { context };
    },
    async agentStopped({ agentId, kind, objections, lastText, transcript }, site) {
      const merged = await fire(
        {
          hook_event_name: "SubagentStop",
          stop_hook_active: objections > 0,
          agent_id: agentId,
          agent_type: kind,
          agent_transcript_path: transcript,
          last_assistant_message: lastText,
        },
        site,
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
function lastChance(site: HookSite): HookSite {
  return { ...site, signal: new AbortController().signal, mostMs: graceMs };
}
