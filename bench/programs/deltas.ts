/** One long streamed reply through the whole of Keel, with one host that listens. */
import { converse, type KeelPlace, openKeel } from "../open-keel.ts";
import { runProgram } from "../program.ts";

await runProgram(async (place: KeelPlace) => {
  const keel = openKeel(place);
  const session = await keel.openSession();
  let deltas = 0;
  session.onEvent(({ type }) => {
    if (type === "text.delta") deltas += 1;
  });
  const startedAt = performance.now();
  const cpu = process.cpuUsage();
  await converse(session);
  const ms = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(cpu);
  await session.close("ended");
  keel.close();
  return { ms, cpuMs: (user + system) / 1000, deltas };
});
