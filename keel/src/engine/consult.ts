/**
 * Asks the model something beside the conversation, for a hook or for a server whose tool runs: one reply, without
 * tools, once, on the bill and within the budget of the session. Nothing of it becomes part of the conversation.
 */

import { modelOf } from "../core/state/state.ts";
import { failed, ok } from "../kernel/result.ts";
import { estimateTokens } from "../kernel/text.ts";
import type { Consult } from "../ports/consult.ts";
import type { HookContext } from "../ports/hooks.ts";
import { costOf } from "../protocol/bill.ts";
import { text, textOf } from "../protocol/message.ts";
import { contextTokens, noUsage } from "../protocol/usage.ts";
import type { StepContext } from "./step-context.ts";
import { chargeOf, type Failed, readReply, unsureUsageNotice } from "./steps/stream.ts";
import { traceOf } from "./trace-context.ts";

export const consultOf =
  (work: StepContext): Consult =>
  async ({ by, system, messages, maxTokens, model: wanted }, signal) => {
    const { parts } = work;
    const model = wanted ?? modelOf(work.state);
    const info = parts.model.info(model);
    const request = {
      model,
      system: system === undefined ? [] : [system],
      tools: [],
      messages: messages.map(({ role, text: words }) => ({ role, content: [text(words)] })),
      maxOutputTokens: Math.min(maxTokens, info.maxOutputTokens),
      thinking: { kind: "off" as const },
      // It shares nothing with the conversation, so its start is no start of it either.
      session: parts.ids.uuid(),
    };
    const said = [system ?? "", ...messages.map(({ text: words }) => words)].join("\n");
    const expected = { ...noUsage, inputTokens: estimateTokens(said), outputTokens: request.maxOutputTokens };
    const either = AbortSignal.any([work.signal, signal]);
    const held = await parts.budget?.reserve(
      { usd: costOf(expected, info.prices) ?? 0, tokens: contextTokens(expected) },
      either,
    );
    if (parts.budget && !held) return failed("nothing is left of the budget");
    const { clock } = parts;
    const requestId = parts.ids.uuid();
    const startedAt = clock.monotonicMs();
    try {
      const outcome = await readReply({ parts, signal: either }, request, () => undefined);
      const ms = Math.round(clock.monotonicMs() - startedAt);
      if (!outcome.ok) {
        work.record({ type: "model.consulted", requestId, model, by, ms, ...costOfFailure(outcome) });
        return failed(outcome.fault.message);
      }
      const { content, usageUnsure, stop } = outcome.reply;
      if (usageUnsure) work.warn(unsureUsageNotice);
      work.record({
        type: "model.consulted",
        requestId,
        model,
        by,
        ms,
        ...chargeOf(outcome.reply, info.prices),
      });
      return ok({ text: textOf(content), model, stop: stop === "output_limit" ? "cut" : "end" });
    } finally {
      held?.release();
    }
  };

/** What a request cost that had begun to be answered nobody knows; one that never was costs nothing. */
const costOfFailure = ({ begun }: Failed) =>
  begun ? { usage: null, costUsd: null } : { usage: noUsage, costUsd: 0 };

/** Where a session calls its hooks, from what its steps work with. `cwd`: what the paths of a call are relative to. */
export function hookContextOf(work: StepContext, cwd = work.parts.workspace.cwd): HookContext {
  const { parts, state, signal, show } = work;
  return {
    // An agent is a part of the session that the host opened.
    session: parts.above?.root ?? parts.log.session,
    cwd,
    permissionMode: parts.above?.mode() ?? state.settings?.permissionMode ?? "default",
    inputId: state.turn?.inputIds[0],
    trace: traceOf(work),
    clock: parts.clock,
    hookMs: parts.limits.hookMs,
    agent: parts.above && { id: parts.above.origin.agentId, kind: parts.above.origin.kind },
    signal,
    show,
    newId: () => parts.ids.uuid(),
    saved: () => work.saved(),
    consult: consultOf(work),
  };
}
