/** Many sessions at once in one process, each with its own log; all stay open until their memory was taken. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { converse, type KeelPlace, openKeel } from "../open-keel.ts";
import { heldBytes, runProgram } from "../program.ts";

await runProgram(async ({ sessions, ...place }: KeelPlace & { sessions: number }) => {
  const keel = openKeel(place);
  const before = await heldBytes();
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const startedAt = performance.now();
  const open = await Promise.all(
    Array.from({ length: sessions }, async () => {
      const session = await keel.openSession();
      await converse(session);
      return session;
    }),
  );
  const ms = performance.now() - startedAt;
  delay.disable();
  const held = (await heldBytes()) - before;
  await Promise.all(open.map((session) => session.close("ended")));
  keel.close();
  return { ms, worstDelayMs: delay.max / 1e6 - 1, heldBytes: held, conversations: open.length };
});
