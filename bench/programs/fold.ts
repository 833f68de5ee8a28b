/** The fold of a log that is in memory already: from events to state. */

import { fold } from "../../keel/src/core/fold.ts";
import { emptyState } from "../../keel/src/core/state/state.ts";
import { runProgram } from "../program.ts";
import { typicalEvents } from "../workloads/events.ts";

await runProgram(async ({ count, repeats }: { count: number; repeats: number }) => {
  const events = typicalEvents({ count, resultBytes: 2048 });
  const ms: number[] = [];
  let messages = 0;
  for (let done = 0; done < repeats; done++) {
    const startedAt = performance.now();
    messages = events.reduce(fold, emptyState).history.length;
    ms.push(performance.now() - startedAt);
  }
  return { ms, messages };
});
