/** Reads one streamed reply under its two deadlines: the first event, and silence between events. */
import { childOf, LightStop } from "../../kernel/abort.ts";
import { graceMs } from "../../kernel/deadline.ts";
import { type Fault, fault, toFault } from "../../kernel/fault.ts";
import type { ModelEvent, ModelRequest } from "../../ports/model.ts";
import { costOf } from "../../protocol/bill.ts";
import { type Prices, plausibleUsage, type Usage } from "../../protocol/usage.ts";
import type { StepContext } from "../step-context.ts";

export type ModelReply = Extract<ModelEvent, { type: "end" }>;
export type Failed = {
  readonly fault: Fault /** Whether the provider had begun to answer: then the attempt may be billed. */;
  readonly begun: boolean;
};

/** More pieces than the longest honest reply has. What goes on is read at a walk, so that others have their time too. */
const maxUnrested = 60_000;
const eventsPerWalk = 20;
const walkMs = 5;

/** Hands every event to `onEvent` and returns the end, or what went wrong. Never throws. */
export async function readReply(
  work: Pick<StepContext, "parts" | "signal">,
  request: ModelRequest,
  onEvent: (event: ModelEvent) => void,
): Promise<{ ok: true; reply: ModelReply } | ({ ok: false } & Failed)> {
  const { clock, limits, model } = work.parts;
  const { controller, release } = childOf(work.signal);
  const watch = new LightStop();
  const progress = { begun: false, at: clock.monotonicMs() };
  const guard = guardSilence();
  let isLeft = false;
  try {
    return { ok: true, reply: await Promise.race([read(), leftBehind()]) };
  } catch (thrown) {
    const stalled = guard.stalled();
    return {
      ok: false,
      fault: stalled ?? (work.signal.aborted ? fault("aborted", { cause: thrown }) : toFault(thrown)),
      begun: progress.begun,
    };
  } finally {
    isLeft = true;
    watch.fire();
    release();
  }

  async function read(): Promise<ModelReply> {
    let events = 0;
    const stream = model.stream(request, controller.signal);
    for await (const first of stream) {
      // Nobody waits for it any more: what comes now belongs to nothing.
      if (isLeft) break;
      progress.begun = true;
      progress.at = clock.monotonicMs();
      for (const said of [first, ...(stream.ready?.() ?? [])]) {
        const event = withPlausibleUsage(said);
        onEvent(event);
        if (event.type === "end") return event;
        if (++events <= maxUnrested || events % eventsPerWalk !== 0) continue;
        await clock.sleep(walkMs, controller.signal);
        if (isLeft) break;
      }
    }
    // A stream that was aborted may end without a word.
    throw work.signal.aborted ? fault("aborted") : fault("stream_cut");
  }

  /** A model that does not hear the signal is not waited for longer than a moment. */
  function leftBehind(): Promise<never> {
    return new Promise((_, reject) => {
      const give = (): void => void clock.sleep(graceMs, watch).then(() => reject(fault("aborted")));
      if (controller.signal.aborted) give();
      else controller.signal.addEventListener("abort", give, { once: true });
    });
  }

  /** One sleeping timer for the whole stream: it wakes when the deadline of the newest event has come. */
  function guardSilence(): { stalled(): Fault | undefined } {
    let stall: Fault | undefined;
    const look = async (): Promise<void> => {
      while (!watch.aborted) {
        const limitMs = progress.begun ? limits.silenceMs : limits.firstByteMs;
        const leftMs = progress.at + limitMs - clock.monotonicMs();
        if (leftMs <= 0) {
          stall = fault("stream_stalled", { seconds: Math.round(limitMs / 1000) });
          return controller.abort(stall);
        }
        // The limit of silence, the shorter one, comes into force while this sleeps.
        await clock.sleep(Math.min(leftMs, limits.silenceMs), watch);
      }
    };
    void look();
    return { stalled: () => stall };
  }
}

/** Counts come from outside: a sum over them must stay a number, and no bill goes below zero. */
function withPlausibleUsage(event: ModelEvent): ModelEvent {
  if ((event.type !== "end" && event.type !== "start") || !event.usage) return event;
  const { usage, sure } = plausibleUsage(event.usage);
  if (sure) return event;
  return event.type === "end" ? { ...event, usage, usageUnsure: true } : { ...event, usage };
}

/** What goes on record of a reply's usage. A price of what nobody can mean would be an invented sum. */
export function chargeOf(
  { usage, usageUnsure }: Pick<ModelReply, "usage" | "usageUnsure">,
  prices: Prices | null,
): { usage: Usage; costUsd: number | null; usageUnsure?: true } {
  return usageUnsure ? { usage, costUsd: null, usageUnsure } : { usage, costUsd: costOf(usage, prices) };
}

export const unsureUsageNotice =
  "The provider told token counts that cannot be true. They were brought within bounds; the bill is at least what it says.";
