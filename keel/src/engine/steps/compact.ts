/**
 * Shortens the conversation: one request for notes, a boundary, the newest messages kept as they are, and what the
 * model needs at hand given back. How much is kept and what is asked is the strategy's word.
 */

import { defuse, estimateMessage, note } from "../../core/context/blocks.ts";
import { cleanKeep, condensedTokens, keepRecent } from "../../core/context/condense.ts";
import { summaryRequestOf } from "../../core/context/request.ts";
import { type FileAgain, restored } from "../../core/context/restore.ts";
import { folderAgain, summaryIntroduction } from "../../core/model-text.ts";
import type { Step } from "../../core/next-step.ts";
import { predictRequest } from "../../core/predict.ts";
import { modelOf } from "../../core/state/state.ts";
import { fault } from "../../kernel/fault.ts";
import { oneLine } from "../../kernel/text.ts";
import { deniesReading } from "../../policy/decide.ts";
import { text, textOf } from "../../protocol/message.ts";
import { hookContextOf } from "../consult.ts";
import type { StepContext } from "../step-context.ts";
import { fail, reserveFor, waitBefore } from "./ask-model.ts";
import { chargeOf, readReply, unsureUsageNotice } from "./stream.ts";

/** Share of the window that the request for notes may fill when the conversation is too long for it; halved each time. */
const requestShare = 0.5;
/** A file that is larger is not given back, not even in part. */
const maxFileBytes = 1_000_000;

export async function compact(work: StepContext, step: Extract<Step, { kind: "compact" }>): Promise<void> {
  const { clock, ids, hooks, model, log } = work.parts;
  if (step.wait && !(await waitBefore(work, step.wait))) return;
  const asked = work.state.compaction?.instructions;
  const trigger = step.trigger === "manual" ? "manual" : "auto";
  const { instructions } = await hooks.compact({ trigger, instructions: asked }, hookContextOf(work));
  const name = modelOf(work.state);
  const info = model.info(name);
  const history = work.state.history.slice();
  const plan = (work.parts.condense ?? keepRecent).plan({
    history,
    windowTokens: info.windowTokens,
    instructions: [asked, instructions].filter(Boolean).join("\n") || undefined,
  });
  const tries = work.state.turn?.failure?.purpose === "compaction" ? work.state.turn.failures : 0;
  const maxTokens =
    step.trigger === "too_long" ? info.windowTokens * requestShare * 0.5 ** tries : Number.POSITIVE_INFINITY;
  const request = summaryRequestOf(work.state, {
    session: log.session,
    info,
    maxTokens,
    estimate: estimateMessage,
    instructions: { role: "user", content: [text(plan.words)] },
  });

  const requestId = ids.uuid();
  const about = { requestId, model: name, purpose: "compaction" as const };
  const predicted = predictRequest(work.state, { request, info, now: clock.now() });
  const held = await reserveFor(work, predicted, info);
  if (!held) return withoutBudget(work, about);
  const startedAt = clock.monotonicMs();
  let outcome: Awaited<ReturnType<typeof readReply>>;
  try {
    const attempt = (work.state.turn?.failures ?? 0) + 1;
    const sums = await model.prepare?.(request);
    work.record({ type: "model.started", ...about, attempt, predicted, ...(sums ? { sums } : {}) });
    await work.saved();
    outcome = await readReply(work, request, () => undefined);
  } finally {
    held.release();
  }
  const ms = Math.round(clock.monotonicMs() - startedAt);
  const attempt = { ...about, ms };
  if (!outcome.ok) return fail(work, { ...attempt, fault: outcome.fault, begun: outcome.begun });
  const written = textOf(outcome.reply.content).trim();
  if (written === "")
    return fail(work, {
      ...attempt,
      fault: fault("stream_malformed", { reason: "the summary is empty" }),
      begun: true,
    });

  const summary = `${summaryIntroduction}${written}`;
  const keep = cleanKeep(history, plan.keep);
  const cut = history.length - keep;
  const [dropped, kept] = [history.slice(0, cut), history.slice(cut)];
  const restoring = restored({ dropped, kept, windowTokens: info.windowTokens });
  let wanted = restoring.next();
  while (!wanted.done) wanted = restoring.next(await readAgain(work, wanted.value));
  const { keptFolder } = work.state;
  const again = [...wanted.value, ...(keptFolder === null ? [] : [folderAgain(defuse(oneLine(keptFolder)))])];
  const tokensAfter = condensedTokens(work.state, { texts: [summary, ...again], kept });
  if (outcome.reply.usageUnsure) work.warn(unsureUsageNotice);
  work.record({
    type: "context.compacted",
    requestId,
    trigger: step.trigger,
    summary,
    keep,
    ...(again.length > 0 ? { restored: again } : {}),
    tokensBefore: work.state.contextTokens,
    tokensAfter,
    ...chargeOf(outcome.reply, info.prices),
    model: name,
    ms,
  });
  await hooks.compacted({ trigger, summary }, hookContextOf(work));
  const { context } = await hooks.start({ source: "compact", model: name }, hookContextOf(work));
  if (context.length > 0) work.record({ type: "context.added", content: context.map(note), why: "hook" });
}

/** Within a turn the budget ends the turn. Between turns nobody else gives up what was asked for. */
function withoutBudget(
  work: StepContext,
  about: { requestId: string; model: string; purpose: "compaction" },
): void {
  const isStopped = work.signal.aborted;
  if (isStopped && work.state.turn && !work.state.turn.interrupted) work.interrupt("host");
  if (work.state.turn) return;
  const why = fault(isStopped ? "aborted" : "budget_used_up");
  fail(work, { ...about, ms: 0, fault: why, begun: false });
}

/** Only what this session has read before, and may still read, is read again. */
async function readAgain(work: StepContext, path: string): Promise<FileAgain> {
  const { rules, workspace } = work.parts;
  const { files, roots, commands } = workspace;
  const facts = await files.describe(path);
  const stamp = work.state.seen.get(facts.path);
  if (stamp === undefined || facts.kind !== "file" || facts.problem !== undefined) return undefined;
  if (deniesReading(rules, facts.path, { roots, home: commands?.home ?? "/" })) return undefined;
  const read = await files.read(facts.path, { maxBytes: maxFileBytes });
  if (!read.ok || read.file.bytes.includes(0)) return undefined;
  const text = new TextDecoder().decode(read.file.bytes);
  return { path: facts.path, text, state: read.file.stamp === stamp ? "as seen" : "changed" };
}
