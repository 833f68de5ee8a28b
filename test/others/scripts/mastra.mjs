// Mastra's agent around the SDK's loop: whole and streamed answers, a tool of the program, sessions.
import { createSdkMcpServer, tool } from "@anthropic-ai/claude-agent-sdk";
import { ClaudeSDKAgent } from "@mastra/claude";
import { Mastra } from "@mastra/core/mastra";
import { z } from "zod";
import { check, executable, inProcess, project, same } from "./kit.mjs";

const double = tool("double", "Doubles a number", { value: z.number() }, async ({ value }) => ({
  content: [{ type: "text", text: String(value * 2) }],
}));
const agent = new ClaudeSDKAgent({
  id: "others",
  name: "Others",
  description: "A session of the SDK.",
  sdkOptions: {
    cwd: project,
    settingSources: [],
    mcpServers: { own: createSdkMcpServer({ name: "own", tools: [double] }) },
    allowedTools: ["mcp__own__double"],
    ...(executable && !inProcess ? { pathToClaudeCodeExecutable: executable } : {}),
  },
});
await check(
  "it is registered",
  () => new Mastra({ agents: { agent }, logger: false }).getAgent("agent") !== undefined,
);
const whole = await check("an answer is generated", agent.generate("say: hello there"));
same("its words", whole?.text, "hello there");
const used = await whole?.usage;
await check("its usage", () => (used.outputTokens ?? used.completionTokens) === 20);
const called = await agent.generate('call: mcp__own__double {"value":21}');
same("a tool of the program is called", called.text, "It worked: 42");
const stream = await agent.stream(`say: ${"word ".repeat(20).trim()}`);
const chunks = await check("an answer is streamed", Array.fromAsync(stream.fullStream));
const deltas = chunks?.filter(({ type }) => type === "text-delta") ?? [];
same("its words, joined", deltas.map(({ payload }) => payload.text).join(""), "word ".repeat(20).trim());
await check("a failed request is an error", () =>
  agent.generate("fail: 400").then(
    ({ error, finishReason }) => Boolean(error) || finishReason === "error",
    () => true,
  ),
);
