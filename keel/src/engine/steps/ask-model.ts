/** Asks the model once. A failure is recorded, not thrown: whether to try again is `next-step`'s word. */

import { note } from "../../core/context/blocks.ts";
import { requestOf } from "../../core/context/request.ts";
import { reminderFor } from "../../core/model-text.ts";
import type { Step, Wait } from "../../core/next-step.ts";
import { predictRequest, spendingOf } from "../../core/predict.ts";
import { modelOf } from "../../core/state/state.ts";
import { withFreshIds } from "../../core/used-ids.ts";
import { isRetryable } from "../../kernel/backoff.ts";
import type { Fault } from "../../kernel/fault.ts";
import { once } from "../../kernel/once.ts";
import type { ModelEvent, ModelRequest } from "../../ports/model.ts";
import { type ModelInfo, noUsage, type Prediction } from "../../protocol/usage.ts";
import type { StepContext } from "../step-context.ts";
import { briefModel } from "./brief-model.ts";
import { chargeOf, readReply, unsureUsageNotice } from "./stream.ts";

export async function askModel(work: StepContext, step: Extract<Step, { kind: "ask-model" }>): Promise<void> {
  const { clock, ids, model } = work.parts;
  if (step.wait && !(await waitBefore(work, step.wait))) return;
  if (step.fallback !== undefined)
    work.record({ type: "settings.changed", patch: { model: step.fallback }, why: "fallback" });
  const reminder = step.reminder && reminderFor(work.state, step.reminder);
  if (step.reminder && reminder)
    work.record({ type: "context.added", content: [note(reminder)], why: step.reminder });
  await briefModel(work);

  const requestId = ids.uuid();
  const name = modelOf(work.state);
  const info = model.info(name);
  const { log, cacheKey } = work.parts;
  const request = requestOf(work.state, { session: log.session, info, cacheKey });
  const predicted = predictRequest(work.state, { request, info, now: clock.now() });
  const held = await reserveFor(work, predicted, info);
  // A stop that is not on record would be tried for ever.
  if (!held && work.signal.aborted && !work.state.turn?.interrupted) work.interrupt("host");
  if (!held) return;
  try {
    await askOnce(work, { requestId, name, info, request, predicted });
  } finally {
    held.release();
  }
}

/** Room for a request in the budget. Undefined when others have spent the rest meanwhile, or the turn was stopped. */
export async function reserveFor(
  { parts: { budget }, signal }: StepContext,
  predicted: Prediction,
  info: ModelInfo,
): Promise<{ release(): void } | undefined> {
  if (!budget) return { release: () => undefined };
  const held = await budget.reserve(spendingOf(predicted, info), signal);
  if (budget.exhausted === undefined) return held;
  // What another cost came in between.
  held?.release();
  return undefined;
}

type SentRequest = {
  readonly requestId: string;
  readonly name: string;
  readonly info: ModelInfo;
  readonly request: ModelRequest;
  readonly predicted: Prediction;
};

async function askOnce(
  work: StepContext,
  { requestId, name, info, request, predicted }: SentRequest,
): Promise<void> {
  const { clock, ids, model } = work.parts;
  const sums = await model.prepare?.(request);
  work.record({
    type: "model.started",
    requestId,
    model: name,
    purpose: "turn",
    attempt: (work.state.turn?.failures ?? 0) + 1,
    predicted,
    ...(sums ? { sums } : {}),
  });
  await work.saved();

  const startedAt = clock.monotonicMs();
  // What calls need is loaded when the reply has begun: a start does not wait for it, nor does an answer without calls.
  const starter = once(async () => (await import("../calls/early.ts")).earlyStarter(work));
  let considered = Promise.resolve();
  let firstMs: number | undefined;
  const outcome = await readReply(work, request, (event) => {
    firstMs ??= Math.round(clock.monotonicMs() - startedAt);
    if (event.type === "start") for (const text of event.notices ?? []) work.warn(text);
    showEvent(work, requestId, event);
    if (event.type === "block.start" && event.block.type === "tool_use") starter().catch(() => undefined);
    if (event.type !== "block.end" || event.block.type !== "tool_use") return;
    const { block } = event;
    considered = considered.then(async () => (await starter()).consider(block));
    considered.catch(() => undefined); // Thrown below: until then nobody waits for it.
  });
  await considered;
  const ms = Math.round(clock.monotonicMs() - startedAt);
  if (!outcome.ok)
    return fail(work, {
      requestId,
      model: name,
      ms,
      purpose: "turn",
      fault: outcome.fault,
      begun: outcome.begun,
    });
  const { stop, usageUnsure, providerId } = outcome.reply;
  if (usageUnsure) work.warn(unsureUsageNotice);
  const content = withFreshIds(outcome.reply.content, requestId, work.isKnownCall);
  work.record({
    type: "model.finished",
    requestId,
    messageId: ids.uuid(),
    model: name,
    content,
    stop,
    ...chargeOf(outcome.reply, info.prices),
    ms,
    firstMs,
    providerId,
  });
}

/** Records a failed attempt. What it cost is known only when the provider never began. */
export function fail(
  work: StepContext,
  attempt: {
    requestId: string;
    model: string;
    ms: number;
    purpose: "turn" | "compaction";
    fault: Fault;
    begun: boolean;
  },
): void {
  const { fault, begun, ...rest } = attempt;
  work.early.clear();
  work.show({ type: "reply.withdrawn", requestId: attempt.requestId, why: fault.toData() });
  const { retryAfterMs } = fault.detail;
  work.record({
    type: "model.failed",
    ...rest,
    fault: fault.toData(),
    retryable: isRetryable(fault.code),
    usage: begun ? null : noUsage,
    costUsd: begun ? null : 0,
    ...(typeof retryAfterMs === "number" ? { retryAfterMs } : {}),
  });
}

/** True when the wait is over, false when the turn was interrupted meanwhile. */
export async function waitBefore(work: StepContext, wait: Wait): Promise<boolean> {
  const { clock, ids } = work.parts;
  const delayMs = Math.round(wait.delayMs * (1 + ids.random() / 4));
  const failure = work.state.turn?.failure;
  if (failure)
    work.show({
      type: "retry.waiting",
      attempt: wait.attempt,
      mostAttempts: wait.mostAttempts,
      delayMs,
      fault: failure.fault,
    });
  await clock.sleep(delayMs, work.signal);
  return !work.signal.aborted;
}

function showEvent(work: StepContext, requestId: string, event: ModelEvent): void {
  switch (event.type) {
    case "start":
      return work.show({
        type: "reply.started",
        requestId,
        model: event.model,
        providerId: event.providerId,
        usage: event.usage,
      });
    case "block.start":
      return work.show({ type: "block.started", requestId, index: event.index, block: event.block });
    case "text":
      return work.show({ type: "text.delta", requestId, index: event.index, text: event.text });
    case "thinking":
      return work.show({ type: "thinking.delta", requestId, index: event.index, text: event.text });
    case "signature":
      return work.show({ type: "signature.delta", requestId, index: event.index, text: event.text });
    case "call":
      return work.show({ type: "call.delta", requestId, index: event.index, json: event.json });
    case "block.end":
      return work.show({ type: "block.finished", requestId, index: event.index, block: event.block });
    case "end":
      return;
  }
}
