/** Lines that are ready, written to the end of a file, each on disk before the next one. */
import { open } from "node:fs/promises";
import { runProgram } from "../program.ts";
import { typicalEvents } from "../workloads/events.ts";

type Options = { readonly file: string; readonly appends: number; readonly eventsPerAppend: number };

await runProgram(async ({ file, appends, eventsPerAppend }: Options) => {
  const events = typicalEvents({ count: appends * eventsPerAppend, resultBytes: 2048 });
  const batches = Array.from({ length: appends }, (_, index) =>
    Buffer.from(
      events
        .slice(index * eventsPerAppend, (index + 1) * eventsPerAppend)
        .map((event) => `${JSON.stringify(event)}\n`)
        .join(""),
    ),
  );
  await using handle = await open(file, "wx");
  const ms: number[] = [];
  for (const batch of batches) {
    const startedAt = performance.now();
    await handle.write(batch);
    await handle.datasync();
    ms.push(performance.now() - startedAt);
  }
  return { ms };
});
