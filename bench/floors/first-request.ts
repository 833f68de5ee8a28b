/** A bare request to the same server: what the way to it costs by itself. */
import { http } from "../bare-loop.ts";
import { startArrivals } from "../first-request.ts";
import { runProgram } from "../program.ts";

await runProgram(async ({ repeats }: { readonly repeats: number }) => {
  const arrivals = await startArrivals();
  const one = async (): Promise<number> => {
    const arrived = arrivals.next();
    const startedAt = performance.now();
    const request = http.request(arrivals.url, { method: "POST" }, (response) => response.resume());
    const closed = new Promise((resolve) => request.once("close", resolve));
    request.end("{}");
    const at = await arrived;
    await closed;
    return at - startedAt;
  };
  const firstMs = await one();
  const laterMs: number[] = [];
  for (let done = 0; done < repeats; done++) laterMs.push(await one());
  arrivals.close();
  return { firstMs, laterMs };
});
