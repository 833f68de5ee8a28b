/** Looks for words in the sessions of a home, whose tables follow their logs: taken in first, which is not measured. */
import { homeResources } from "../../keel/src/app/compose/home-resources.ts";
import { runProgram } from "../program.ts";
import { questions, timesOf } from "../workloads/prose.ts";

await runProgram(async ({ home, repeats }: { home: string; repeats: number }) => {
  const resources = homeResources(home);
  const conversations = await resources.conversations();
  await conversations.refresh();
  const ms = await timesOf(repeats, async (words) => {
    const found = await conversations.search({ words });
    // Those stand in nearly every message.
    if (found.length === 0 && questions.common.includes(words)) throw new Error(`Nobody said ${words}.`);
  });
  await resources.close();
  return ms;
});
