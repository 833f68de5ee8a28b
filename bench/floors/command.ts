/** The least that a program's answer costs: started, its output taken in, awaited. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { runProgram } from "../program.ts";

type Options = {
  readonly file: string;
  readonly words: readonly string[];
  readonly cwd: string;
  readonly times: number;
};

await runProgram(async ({ file, words, cwd, times }: Options) => {
  const ms: number[] = [];
  let bytes = 0;
  for (let done = -1; done < times; done++) {
    bytes = 0;
    const startedAt = performance.now();
    const child = spawn(file, words, { cwd, stdio: ["ignore", "pipe", "inherit"] });
    child.stdout.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
    });
    await once(child, "close");
    if (done >= 0) ms.push(performance.now() - startedAt);
  }
  return { ms, bytes };
});
