// A small MCP server on standard input and output, for programs that hand servers on.
import { createInterface } from "node:readline";

const tools = [
  {
    name: "shout",
    description: "Says a word loudly",
    inputSchema: { type: "object", properties: { word: { type: "string" } }, required: ["word"] },
  },
];
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "loud", version: "1.0.0" },
  }),
  "tools/list": () => ({ tools }),
  "tools/call": ({ arguments: { word } }) => ({
    content: [{ type: "text", text: `${word.toUpperCase()}!` }],
  }),
  ping: () => ({}),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method];
  const said = answer
    ? { result: answer(params ?? {}) }
    : { error: { code: -32601, message: `no ${method}` } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...said })}\n`);
});
