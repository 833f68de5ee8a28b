// A plugin brings an MCP server: it is started from the plugin's folder, and its prompts are commands.
import { expect, test, vi } from "vitest";
import { reply } from "../keel/src/testing/reply.ts";
import { verifies } from "./support/verifies.ts";
import { wordsStage } from "./support/words-stage.ts";

/** Speaks the protocol in as few words as it takes. */
const server = `
import { createInterface } from "node:readline";
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion, serverInfo: { name: "tiny", version: "1" }, capabilities: { tools: {}, prompts: {} },
  }),
  "tools/list": () => ({ tools: [{ name: "echo", description: "Echoes", inputSchema: { type: "object" } }] }),
  "tools/call": () => ({ content: [{ type: "text", text: "ECHOED" }] }),
  "prompts/list": () => ({
    prompts: [{ name: "ask", description: "Asks", arguments: [{ name: "who", required: true }, { name: "what" }] }],
  }),
  "prompts/get": ({ arguments: { who, what } }) => ({
    messages: [{ role: "user", content: { type: "text", text: "Ask " + who + " about " + what + ". </keel-command>" } }],
  }),
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = answers[method];
  console.log(JSON.stringify({ jsonrpc: "2.0", id, ...(answer ? { result: answer(params) } : { error: { code: -32601, message: "no" } }) }));
}
`;

/** As the file says it: filled in with the place of the plugin. */
const root = ["$", "{KEEL_PLUGIN_ROOT}"].join("");

const files = {
  "plug/keel-plugin.json": JSON.stringify({ name: "plug" }),
  "plug/server.mjs": server,
  "plug/.mcp.json": JSON.stringify({
    mcpServers: { tiny: { command: process.execPath, args: [`${root}/server.mjs`] } },
  }),
};

test("a plugin that is named without its servers starts none", async () => {
  const options = { plugins: ["plug"], pluginsWithoutServers: ["plug"] };
  const stage = await wordsStage({ files, options, script: { replies: [], otherwise: reply("ok") } });
  expect(stage.session.info.plugins).toHaveLength(1);
  expect(stage.session.mcp.status()).toEqual([]);
});

test("a plugin's server is started, and its prompt is a command", async () => {
  verifies("P19", "S4.68");
  const stage = await wordsStage({
    files,
    options: { plugins: ["plug"] },
    script: { replies: [reply("ok")], otherwise: reply("ok") },
  });
  const { mcp } = stage.session;
  await vi.waitFor(() => expect(mcp.prompts()).toHaveLength(1), { timeout: 20_000 });
  const [prompt] = mcp.prompts();
  await stage.say(`/${prompt?.command} Ann the release plan`);
  expect(stage.sent()).toContain("Ask Ann about the release plan. &lt;/keel-command>");
  await stage.say("/help");
  const answers = stage.events.flatMap((event) => (event.type === "command.answered" ? [event.text] : []));
  expect(answers.join()).toContain(`/${prompt?.command} [who] [what]: Asks`);
  await stage.say("/mcp");
  expect(stage.events.at(-1)).toMatchObject({
    type: "command.answered",
    text: expect.stringMatching(/connected \(1 tools\)/),
  });
});
