// A tool of your own: a function of this process that the model can call.
import assert from "node:assert/strict";
import { createSdkMcpServer, query, tool } from "keel";
import { reply, toolUse } from "keel/testing";
import * as z from "zod";
import { stage } from "./scripted.ts";

await using scripted = await stage({
  replies: [reply(toolUse("mcp__weather__forecast", { city: "Oslo" })), reply("Take an umbrella.")],
});

// #region custom-tools
const forecast = tool(
  "forecast",
  "The weather of tomorrow in a city.",
  { city: z.string().describe("The name of the city") },
  async ({ city }) => ({ content: [{ type: "text", text: `Rain in ${city}.` }] }),
  { annotations: { readOnlyHint: true } },
);

const answer = query({
  prompt: "Do I need an umbrella in Oslo tomorrow?",
  options: {
    mcpServers: { weather: createSdkMcpServer({ name: "weather", tools: [forecast] }) },
    allowedTools: ["mcp__weather__forecast"],
  },
});
let result = "";
for await (const message of answer) {
  if (message.type === "result" && message.subtype === "success") result = message.result;
}
// #endregion

assert.equal(result, "Take an umbrella.");
assert.match(JSON.stringify(scripted.server.requests[1]?.body), /Rain in Oslo/);
