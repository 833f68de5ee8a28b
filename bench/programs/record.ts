/** Sessions of many tool turns through the whole of Keel, one after the other: what a replay is measured with. */
import { converse, type KeelPlace, openKeel } from "../open-keel.ts";
import { runProgram } from "../program.ts";

await runProgram(async ({ sessions, ...place }: KeelPlace & { readonly sessions: number }) => {
  const keel = openKeel(place);
  const recorded: { id: string; ms: number; events: number }[] = [];
  for (let made = 0; made < sessions; made++) {
    const startedAt = performance.now();
    const session = await keel.openSession();
    let events = 0;
    session.onEvent((event) => {
      if ("seq" in event) events = event.seq;
    });
    await converse(session);
    await session.close("ended");
    recorded.push({ id: session.id, ms: performance.now() - startedAt, events });
  }
  keel.close();
  return { recorded };
});
