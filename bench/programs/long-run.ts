/** A long conversation of the SDK: every turn runs a command with much output, and what is held is looked at. */
import { createSession } from "../../keel/src/sdk/query/session.ts";
import { type LongRun, longRun } from "../long-run.ts";
import { runProgram } from "../program.ts";

type Options = LongRun & { readonly url: string; readonly cwd: string; readonly home: string };

await runProgram(async ({ url, cwd, home, ...run }: Options) => {
  const env = {
    ...{ PATH: process.env["PATH"], KEEL_HOME: home, HOME: home },
    ...{ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "bench" },
  };
  await using session = await createSession({
    ...{ cwd, env, model: "claude-sonnet-4-5", settingSources: [] },
    allowedTools: ["Bash"],
    ...(run.windowTokens === undefined ? {} : { settings: { autoCompactWindow: run.windowTokens } }),
  });
  return await longRun(run, async () => {
    await session.send(run.words);
    for await (const message of session.stream())
      if (message.type === "result" && message.is_error) throw new Error(JSON.stringify(message));
  });
});
