/** One bare conversation over `node:http`: the same replies, reads and bytes as Keel's, and nothing else. */
import { type BareConversation, bareAsk, bareLoop, http } from "../bare-loop.ts";
import { runProgram } from "../program.ts";

await runProgram(async (conversation: BareConversation) => {
  const agent = new http.Agent({ keepAlive: true });
  const body = await bareLoop(conversation, bareAsk(conversation.url, agent));
  agent.destroy();
  return { bytes: body.length };
});
