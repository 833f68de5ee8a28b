/** Embeds questions by the local model, in its thread as a search does. */
import { localEmbedder } from "../../keel/src/memory/local-embedder.ts";
import { runProgram } from "../program.ts";
import { spokenQuestions } from "../workloads/vectors.ts";

await runProgram(async ({ folder, repeats }: { folder: string; repeats: number }) => {
  const embedder = await localEmbedder({ folders: [folder] });
  // The model is loaded with the first.
  await embedder.embed(["first"], "question");
  const ms: number[] = [];
  for (const question of spokenQuestions(repeats)) {
    const startedAt = performance.now();
    await embedder.embed([question], "question");
    ms.push(performance.now() - startedAt);
  }
  await embedder.close();
  return { ms };
});
