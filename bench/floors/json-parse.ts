/** `JSON.parse` of the lines of a log: nobody who wants the state of a session can do less. */
import { runProgram } from "../program.ts";
import { typicalEvents } from "../workloads/events.ts";

await runProgram(async ({ count, repeats }: { count: number; repeats: number }) => {
  const lines = typicalEvents({ count, resultBytes: 2048 }).map((event) => JSON.stringify(event));
  const ms: number[] = [];
  let seen = 0;
  for (let done = 0; done < repeats; done++) {
    const startedAt = performance.now();
    for (const line of lines) seen += JSON.parse(line).seq > 0 ? 1 : 0;
    ms.push(performance.now() - startedAt);
  }
  return { ms, seen };
});
