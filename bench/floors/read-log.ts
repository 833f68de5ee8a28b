/** Reading the same lines: nobody who looks at the past can do less. */
import { readFile } from "node:fs/promises";
import { runProgram } from "../program.ts";

await runProgram(async ({ file, calls: written }: { file: string; calls: number }) => {
  const startedAt = performance.now();
  const lines = (await readFile(file, "utf8")).split("\n");
  const calls = lines.filter((line) => JSON.parse(line).type === "tool.finished").length;
  if (calls < written) throw new Error(`${calls} calls of ${written} were found.`);
  return { whole: [performance.now() - startedAt] };
});
