/** Conversations of the SDK that wait: what one more of them holds, after twenty messages. */
import { createSession, type SDKSession } from "../../keel/src/sdk/query/session.ts";
import { heldBytes, runProgram } from "../program.ts";

type Options = {
  readonly url: string;
  readonly cwd: string;
  readonly home: string;
  readonly conversations: number;
  readonly messages: number;
  readonly messageBytes: number;
};

await runProgram(async ({ url, cwd, home, conversations, messages, messageBytes }: Options) => {
  const env = { KEEL_HOME: home, HOME: home, ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "bench" };
  const words = "A message of a kilobyte. ".repeat(messageBytes).slice(0, messageBytes);
  const open = async () => {
    const session = await createSession({ cwd, env, model: "claude-sonnet-4-5", settingSources: [] });
    for (let said = 0; said < messages / 2; said++) {
      await session.send(words);
      for await (const message of session.stream())
        if (message.type === "result" && message.is_error) throw new Error(JSON.stringify(message));
    }
    return session;
  };
  // The first one brings the code with it.
  const first = await open();
  const before = await heldBytes();
  const others: SDKSession[] = [];
  for (let opened = 0; opened < conversations; opened++) others.push(await open());
  const heldEach = ((await heldBytes()) - before) / conversations;
  await Promise.all([first, ...others].map((session) => session.close()));
  return { heldEach };
});
