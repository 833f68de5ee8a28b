/** Many bare conversations at once in one process. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { type BareConversation, bareAsk, bareLoop, http } from "../bare-loop.ts";
import { heldBytes, runProgram } from "../program.ts";

type Options = Omit<BareConversation, "session"> & { readonly sessions: number };

await runProgram(async ({ sessions, ...rest }: Options) => {
  const agent = new http.Agent({ keepAlive: true });
  const ask = bareAsk(rest.url, agent);
  const before = await heldBytes();
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const startedAt = performance.now();
  const bodies = await Promise.all(
    Array.from({ length: sessions }, (_, index) => bareLoop({ ...rest, session: `bare-${index}` }, ask)),
  );
  const ms = performance.now() - startedAt;
  delay.disable();
  const held = (await heldBytes()) - before;
  agent.destroy();
  return { ms, worstDelayMs: delay.max / 1e6 - 1, heldBytes: held, conversations: bodies.length };
});
