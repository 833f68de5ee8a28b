/** Looks for words in the tables of conversations. */
import { sqliteConversations } from "../../keel/src/store/sqlite/conversations.ts";
import { runProgram } from "../program.ts";
import { timesOf } from "../workloads/prose.ts";

await runProgram(async ({ home, repeats }: { home: string; repeats: number }) => {
  const conversations = sqliteConversations({ home });
  const ms = await timesOf(repeats, (words) => conversations.search({ words }));
  conversations.close();
  return ms;
});
