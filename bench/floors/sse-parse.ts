/** One long reply read by the bare reader: split, `JSON.parse`, joined. */
import { bareAsk, bareStart, http } from "../bare-loop.ts";
import { runProgram } from "../program.ts";

await runProgram(async ({ url }: { url: string }) => {
  const agent = new http.Agent({ keepAlive: true });
  const ask = bareAsk(url, agent);
  const start = bareStart({ url, session: "bare-deltas", firstBytes: 0, bytesPerTurn: 0 });
  const startedAt = performance.now();
  const cpu = process.cpuUsage();
  const { deltas } = await ask(`${start}]}`);
  const ms = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(cpu);
  agent.destroy();
  return { ms, cpuMs: (user + system) / 1000, deltas };
});
