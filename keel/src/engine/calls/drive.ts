/** A tool at work: what it shows goes on, and how long it has been running. */

import { cancelledResult } from "../../core/model-text.ts";
import type { StopSignal } from "../../kernel/abort.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ToolOutcome } from "../../ports/tool.ts";
import { text } from "../../protocol/message.ts";
import type { Display } from "../../protocol/tool.ts";

/** A tool that shows something without a pause would leave no time for anybody else in the process. */
const shownWithoutRest = 20;
export const pauseMs = 5;

/** `isLeft`: nobody waits for it any more; what it has to show now comes after its result. */
export async function drive(
  work: AsyncGenerator<Display, ToolOutcome>,
  {
    show,
    isLeft,
    rest,
  }: { show: (display: Display) => void; isLeft: () => boolean; rest: () => Promise<void> },
): Promise<ToolOutcome> {
  for (let shown = 1; ; shown++) {
    const next = await work.next();
    if (next.done) return next.value;
    if (isLeft()) return (await work.return(failure(cancelledResult))).value as ToolOutcome;
    show(next.value);
    if (shown % shownWithoutRest === 0) await rest();
  }
}

/** A call says that it still runs, also when it shows nothing: each second at first, a long one less and less often. */
const mostBeatMs = 30_000;

export async function beat(clock: Clock, ended: StopSignal, show: () => void): Promise<void> {
  for (let elapsed = 0; ; ) {
    const pause = Math.min(mostBeatMs, Math.max(1_000, elapsed / 10));
    await clock.sleep(pause, ended);
    if (ended.aborted) return;
    elapsed += pause;
    show();
  }
}

export const failure = (words: string): ToolOutcome => ({
  content: [text(words)],
  display: { kind: "text", text: words },
  failed: true,
});
