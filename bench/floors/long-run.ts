/** The least that a long run can be: the same commands, and one growing request that starts anew when it is full. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { bareAsk, http } from "../bare-loop.ts";
import { type LongRun, longRun } from "../long-run.ts";
import { runProgram } from "../program.ts";

type Options = LongRun & { readonly url: string; readonly command: string };

/** As many characters of an output as Keel shows to a model, and of a request as the window takes. */
const shownCharacters = 30_000;
const windowCharacters = 700_000;

await runProgram(async ({ url, command, ...run }: Options) => {
  const agent = new http.Agent({ keepAlive: true });
  const ask = bareAsk(url, agent);
  let body = "";
  const text = (words: string): string => JSON.stringify({ type: "text", text: words });
  const said = (words: string): string => `{"role":"user","content":[${text(words)}]}`;
  const result = await longRun(run, async () => {
    if (body.length > windowCharacters) body = "";
    body += `${body === "" ? "" : ","}${said(run.words)}`;
    const { call } = await ask(request(body));
    if (!call) throw new Error("The model did not call.");
    const { stdout } = await promisify(execFile)("sh", ["-c", command], { maxBuffer: 2 ** 20 });
    const shown = stdout.slice(0, shownCharacters);
    body +=
      `,{"role":"assistant","content":[{"type":"tool_use","id":"${call.id}","name":"Bash","input":{}}]},` +
      `{"role":"user","content":[{"type":"tool_result","tool_use_id":"${call.id}","content":[${text(shown)}]}]}`;
    const answer = await ask(request(body));
    body += `,{"role":"assistant","content":[${text(answer.text)}]}`;
  });
  agent.destroy();
  return result;
});

function request(messages: string): string {
  const head = `"model":"scripted-model","max_tokens":32000,"stream":true,"metadata":{"user_id":"bare"}`;
  return `{${head},"messages":[${messages}]}`;
}
