// A program of the SDK, run by whatever runtime is asked to: a turn with a command, a tool of its own, a hook, a
// question, a failure, and sessions afterwards. Prints what it saw as one line of JSON.
import { createSdkMcpServer, getSessionMessages, listSessions, query, tool } from "keel";
import { z } from "zod";

const cwd = process.env.OTHERS_PROJECT;
const double = tool("double", "Doubles a number", { value: z.number() }, async ({ value }) => ({
  content: [{ type: "text", text: String(value * 2) }],
}));
const hooked = [];
const asked = [];
const options = {
  cwd,
  settingSources: [],
  mcpServers: { own: createSdkMcpServer({ name: "own", tools: [double] }) },
  allowedTools: ["mcp__own__double"],
  hooks: {
    PreToolUse: [{ hooks: [async ({ tool_name }) => void hooked.push(tool_name) ?? {}] }],
  },
  canUseTool: async (name, updatedInput) => {
    asked.push(name);
    return { behavior: "allow", updatedInput };
  },
};

async function resultOf(prompt, more = {}) {
  let found;
  for await (const message of query({ prompt, options: { ...options, ...more } }))
    if (message.type === "result") found = message;
  return found;
}

const command = await resultOf('call: Bash {"command":"printf \'a\\\\nb\\\\n\' | tee out.txt; echo c"}');
const own = await resultOf('call: mcp__own__double {"value":21}', { resume: command.session_id });
const failed = await resultOf("fail: 401").catch(({ message }) => message);
const sessions = await listSessions({ dir: cwd });
const messages = await getSessionMessages(command.session_id, { dir: cwd });
process.stdout.write(
  `${JSON.stringify({
    runtime: process.versions.bun ? `Bun ${process.versions.bun}` : `Node ${process.versions.node}`,
    command: command.result,
    own: own.result,
    sameSession: own.session_id === command.session_id,
    failed,
    hooked,
    asked,
    sessions: sessions.length,
    messages: messages.length,
  })}\n`,
);
