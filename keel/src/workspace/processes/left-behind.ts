/** What a command left running: listed, followed and stoppable until the last of it has ended. */
import { setTimeout as pause } from "node:timers/promises";
import type { LeftBehind } from "../../ports/shell.ts";
import type { Intake } from "./intake.ts";
import type { Post } from "./launch.ts";
import { readMarked } from "./process-table.ts";
import { ProcessTree } from "./process-tree.ts";
import { OutputRecorder } from "./recorder.ts";

/** Who ends just after its parent is not worth a word. */
const settleMs = 50;
const maxBytes = 64_000;
/** Many may end at once; one look finds them all. */
const gatherMs = 20;
/** Becoming another program takes less than a millisecond, but somebody else on the machine may always do it. */
const maxTries = 5;
/** Where nobody tells of an end, we look. */
const lookEveryMs = 1_000;
const graceMs = 500;
const maxWaitForDeathMs = 1_000;

/** Whose they are, and since when they can be there. */
export type Marked = { readonly mark: string; readonly since: number; readonly post: Post };

/** How many processes carry the mark, once those who come and go have settled. */
export async function countLeft(marked: Marked): Promise<number> {
  let found = look(marked);
  if (found.processes + found.unclear === 0) return 0;
  await pause(settleMs);
  found = look(marked);
  for (let tries = 0; found.processes === 0 && found.unclear > 0 && tries < maxTries; tries++) {
    await pause(gatherMs);
    found = look(marked);
  }
  return found.processes;
}

const look = ({ mark, since, post: { table } }: Marked) => readMarked({ mark, table, since });

export function watchLeft(
  marked: Marked,
  { intake, processes }: { intake: Intake; processes: number },
): LeftBehind {
  const recorder = new OutputRecorder({ maxBytes });
  intake.leave((bytes) => recorder.add(bytes));
  const watch = watchMarked(marked);
  const over = watch.gone.then(async () => {
    // The last of them may have ended with its words still in the pipe.
    await intake.drain();
    intake.leave();
    return recorder.close();
  });
  return {
    processes,
    over,
    output: () => recorder.soFar().output,
    saveTo: (path) => recorder.saveTo(path),
    async stop() {
      await new ProcessTree(marked).end({ graceMs });
      watch.look();
      await Promise.race([over, pause(maxWaitForDeathMs, undefined, { ref: false })]);
    },
  };
}

/** `gone` settles when nobody carries the mark any more. Timers must not keep Keel alive: all this ends with it. */
function watchMarked(marked: Marked): { gone: Promise<void>; look(): void } {
  const { promise: gone, resolve } = Promise.withResolvers<void>();
  let timer: NodeJS.Timeout | undefined;
  const lookAgain = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const { processes, unclear } = look(marked);
    if (processes > 0) {
      if (!marked.post.onEnded) timer = setTimeout(lookAgain, lookEveryMs).unref();
      return;
    }
    if (unclear > 0) {
      timer = setTimeout(lookAgain, gatherMs).unref();
      return;
    }
    stopListening?.();
    resolve();
  };
  const stopListening = marked.post.onEnded?.(() => {
    timer ??= setTimeout(lookAgain, gatherMs).unref();
  });
  // Somebody may have ended before we listened.
  lookAgain();
  return { gone, look: lookAgain };
}
