/** The plainest compaction: one request for a summary, a boundary, and the newest messages kept as they are. */
import { fault } from "../../kernel/fault.ts";
import { estimateTokens } from "../../kernel/text.ts";
import type { Message } from "../../protocol/message.ts";
import { text, textOf } from "../../protocol/message.ts";
import { estimateMessage, note, startsCleanly } from "../context/blocks.ts";
import { summaryRequestOf } from "../context/request.ts";
import { costOf } from "../cost.ts";
import { siteOf } from "../hooks/site.ts";
import type { Step } from "../next-step.ts";
import { predictRequest } from "../predict.ts";
import { modelOf, type State } from "../state.ts";
import { summaryIntroduction, summaryRequest } from "../words.ts";
import type { Work } from "../work.ts";
import { fail, waitBefore } from "./ask-model.ts";
import { readReply } from "./stream.ts";

/** Share of the window that the kept messages may fill. */
const keptShare = 0.15;
/** Share of the window that a summary request may fill when the conversation itself is too long for it. */
const requestShare = 0.5;

export async function compact(work: Work, step: Extract<Step, { kind: "compact" }>): Promise<void> {
  const { clock, ids, hooks, model, log } = work.parts;
  if (step.wait && !(await waitBefore(work, step.wait))) return;
  const asked = work.state.compaction?.instructions;
  const trigger = step.trigger === "manual" ? "manual" : "auto";
  const { instructions } = await hooks.compact({ trigger, instructions: asked }, siteOf(work));
  const name = modelOf(work.state);
  const info = model.info(name);
  const words = summaryRequest([asked, instructions].filter(Boolean).join("\n") || undefined);
  const mostTokens =
    step.trigger === "too_long" ? info.windowTokens * requestShare : Number.POSITIVE_INFINITY;
  const request = summaryRequestOf(work.state, {
    session: log.session,
    info,
    mostTokens,
    estimate: estimateMessage,
    instructions: { role: "user", content: [text(words)] },
  });

  const requestId = ids.uuid();
  work.record({
    type: "model.started",
    requestId,
    model: name,
    purpose: "compaction",
    attempt: (work.state.turn?.failures ?? 0) + 1,
    predicted: predictRequest(work.state, { request, info, now: clock.now() }),
  });
  await work.saved();
  const startedAt = clock.monotonicMs();
  const outcome = await readReply(work, request, () => undefined);
  const ms = Math.round(clock.monotonicMs() - startedAt);
  const attempt = { requestId, model: name, ms, purpose: "compaction" as const };
  if (!outcome.ok) return fail(work, { ...attempt, fault: outcome.fault, begun: outcome.begun });
  const written = textOf(outcome.reply.content).trim();
  if (written === "")
    return fail(work, {
      ...attempt,
      fault: fault("stream_malformed", { reason: "the summary is empty" }),
      begun: true,
    });

  const summary = `${summaryIntroduction}${written}`;
  const keep = howManyToKeep(work.state, info.windowTokens * keptShare);
  const kept = work.state.history.slice(work.state.history.length - keep);
  const tokensAfter =
    estimateTokens(summary) +
    promptTokens(work.state) +
    kept.reduce((sum, message) => sum + estimateMessage(message), 0);
  const { usage } = outcome.reply;
  work.record({
    type: "context.compacted",
    requestId,
    trigger: step.trigger,
    summary,
    keep,
    tokensBefore: work.state.contextTokens,
    tokensAfter,
    usage,
    costUsd: costOf(usage, info.prices),
    model: name,
    ms,
  });
  await hooks.compacted({ trigger, summary }, siteOf(work));
  const { context } = await hooks.start({ source: "compact", model: name }, siteOf(work));
  if (context.length > 0) work.record({ type: "context.added", content: context.map(note), why: "hook" });
}

/** The longest end of the conversation that fits and starts at a clean place: a call is never split from its result. */
function howManyToKeep(state: State, mostTokens: number): number {
  const messages: Message[] = state.history.slice();
  let tokens = 0;
  let keep = 0;
  for (let count = 1; count < messages.length; count++) {
    const message = messages[messages.length - count];
    if (!message) break;
    tokens += estimateMessage(message);
    if (tokens > mostTokens) break;
    if (startsCleanly(message)) keep = count;
  }
  return keep;
}

const promptTokens = ({ prompt }: State): number => estimateTokens(JSON.stringify(prompt ?? ""));
