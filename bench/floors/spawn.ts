/** The least that a command costs: a process that ends at once, started and awaited. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { runProgram } from "../program.ts";

await runProgram(async ({ times }: { times: number }) => {
  const ms: number[] = [];
  for (let done = 0; done < times; done++) {
    const startedAt = performance.now();
    await once(spawn("true", { stdio: "ignore" }), "close");
    ms.push(performance.now() - startedAt);
  }
  return { ms };
});
