/** From `query()` to the arrival of its first request: the first of a process, and those after it. */
import { query } from "../../keel/src/sdk/query/query.ts";
import { startArrivals } from "../first-request.ts";
import { runProgram } from "../program.ts";

type Options = { readonly cwd: string; readonly home: string; readonly repeats: number };

await runProgram(async ({ cwd, home, repeats }: Options) => {
  const arrivals = await startArrivals();
  const env = { KEEL_HOME: home, HOME: home, ANTHROPIC_BASE_URL: arrivals.url, ANTHROPIC_API_KEY: "bench" };
  const one = async (): Promise<number> => {
    const arrived = arrivals.next();
    const startedAt = performance.now();
    const running = query({
      prompt: "go",
      options: { cwd, env, model: "claude-sonnet-4-5", settingSources: [] },
    });
    const at = await arrived;
    // The request is refused when it has arrived: what comes of it is not measured, and a failed result throws.
    await Array.fromAsync(running).catch(() => undefined);
    return at - startedAt;
  };
  const firstMs = await one();
  const laterMs: number[] = [];
  for (let done = 0; done < repeats; done++) laterMs.push(await one());
  arrivals.close();
  return { firstMs, laterMs };
});
