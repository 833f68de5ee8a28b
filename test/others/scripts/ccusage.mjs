// ccusage counts tokens in transcripts: it must find the sessions, each reply once, and what agents used.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { query } from "@anthropic-ai/claude-agent-sdk";
import { check, executable, inProcess, project, same } from "./kit.mjs";

const env = { ...process.env, ...(inProcess ? { CLAUDE_CODE_ENTRYPOINT: "sdk-ts" } : {}) };
const options = {
  cwd: project,
  env,
  model: "claude-sonnet-4-5",
  settingSources: [],
  permissionMode: "bypassPermissions",
  allowDangerouslySkipPermissions: true,
  ...(executable && !inProcess ? { pathToClaudeCodeExecutable: executable } : {}),
};
const spent = { input: 0, output: 0, cost: 0 };
async function run(prompt, more = {}) {
  for await (const message of query({ prompt, options: { ...options, ...more } })) {
    if (message.type !== "result") continue;
    for (const used of Object.values(message.modelUsage)) {
      spent.input += used.inputTokens;
      spent.output += used.outputTokens;
    }
    spent.cost += message.total_cost_usd;
    return message.session_id;
  }
}

async function ccusage(...words) {
  const { stdout } = await promisify(execFile)(
    "node_modules/.bin/ccusage",
    [...words, "--json", "--offline"],
    { env },
  );
  return JSON.parse(stdout);
}

await run("say: hello");
await run('call: Bash {"command":"echo one"}\ncall: Bash {"command":"echo two"}\nsay: done');
const last = await run(
  'call: Agent {"description":"look","prompt":"say: the agent looked","subagent_type":"general-purpose","run_in_background":false}\nsay: done',
);
const { totals } = (await check("its report is made", ccusage("daily"))) ?? {};
same(
  "input and output tokens are those of the bill",
  [totals?.inputTokens, totals?.outputTokens],
  [spent.input, spent.output],
);
await check("so is the cost", () => Math.abs(totals.totalCost - spent.cost) < 0.0001);
const report = await check("sessions are reported", ccusage("session"));
const sessions = report?.sessions ?? report?.session ?? [];
await check(
  "there are three, each with its model",
  () => sessions.length >= 1 && JSON.stringify(sessions).includes("sonnet-4-5"),
);
await check("one of them by its id", async () =>
  JSON.stringify(await ccusage("session", "--id", last)).includes(last),
);
