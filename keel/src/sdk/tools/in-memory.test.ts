// Servers that a program made with the MCP SDK itself, and what it adds to one of ours.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { all, sdkStage } from "../../../../test/support/sdk-stage.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { reply, toolUse } from "../../testing/reply.ts";
import type { SDKMessage } from "../messages/messages.ts";
import { query } from "../query/query.ts";
import { createSdkMcpServer } from "./mcp-server.ts";
import { tool } from "./tool.ts";

const allow = async () => ({ behavior: "allow" as const });
const words = (text: string) => ({ content: [{ type: "text" as const, text }] });

function official(): McpServer {
  const server = new McpServer({ name: "sums", version: "3.1.0" }, { instructions: "Add with add." });
  server.registerTool(
    "add",
    { description: "Adds two numbers", inputSchema: { a: z.number().describe("the first"), b: z.number() } },
    async ({ a, b }) => words(String(a + b)),
  );
  return server;
}

const toolResults = (messages: SDKMessage[]) =>
  messages.filter((message) => message.type === "user").map(({ message }) => JSON.stringify(message.content));

describe("a server of the MCP SDK as instance", () => {
  test("is connected in memory: its tools are offered with their schema, called, and it is told as connected", async () => {
    verifies("S2.14");
    const { options, server } = await sdkStage({
      replies: [reply(toolUse("mcp__sums__add", { a: 2, b: 3 })), reply("Five.")],
    });
    const mcpServers = { sums: { type: "sdk" as const, name: "sums", instance: official() } };
    const messages = await all(
      query({ prompt: "go", options: { ...options, mcpServers, canUseTool: allow } }),
    );
    expect(messages[0]).toMatchObject({ mcp_servers: [{ name: "sums", status: "connected" }] });
    const offered = server.requests[0]?.body["tools"] as { name: string; input_schema: unknown }[];
    expect(offered.find(({ name }) => name === "mcp__sums__add")?.input_schema).toMatchObject({
      properties: { a: { type: "number", description: "the first" } },
      required: ["a", "b"],
    });
    expect(toolResults(messages)[0]).toContain('"5"');
    expect(messages.at(-1)).toMatchObject({ result: "Five." });
  });

  test("serves one query after the other, and a tool that it gets later is there too", async () => {
    const { options } = await sdkStage({
      replies: [reply("One."), reply(toolUse("mcp__sums__late", {})), reply("Two.")],
    });
    const instance = official();
    const mcpServers = { sums: { type: "sdk" as const, name: "sums", instance } };
    await all(query({ prompt: "go", options: { ...options, mcpServers } }));
    instance.registerTool("late", { description: "Comes later" }, async () => words("here now"));
    const messages = await all(
      query({ prompt: "go", options: { ...options, mcpServers, canUseTool: allow } }),
    );
    expect(toolResults(messages)[0]).toContain("here now");
  });

  test("its resources are listed and read without a question, and its instructions stand before the prompt's turn", async () => {
    verifies("S4.65");
    const { options, server } = await sdkStage({
      replies: [
        reply(toolUse("ListMcpResourcesTool", {})),
        reply(toolUse("ReadMcpResourceTool", { server: "sums", uri: "memo://1" })),
        reply("Read."),
      ],
    });
    const instance = official();
    instance.registerResource("memo", "memo://1", { mimeType: "text/plain" }, async ({ href }) => ({
      contents: [{ uri: href, text: "remember the milk" }],
    }));
    const mcpServers = { sums: { type: "sdk" as const, name: "sums", instance } };
    const asked: string[] = [];
    const canUseTool = async (name: string) => {
      asked.push(name);
      return { behavior: "deny" as const, message: "no" };
    };
    const messages = await all(query({ prompt: "go", options: { ...options, mcpServers, canUseTool } }));
    const results = messages.flatMap((message) => (message.type === "user" ? [message.tool_use_result] : []));
    expect(results).toEqual([
      [{ server: "sums", uri: "memo://1", name: "memo", mimeType: "text/plain" }],
      { contents: [{ uri: "memo://1", text: "remember the milk" }] },
    ]);
    expect(asked).toEqual([]);
    const sent = server.requests.map(({ body }) => JSON.stringify(body["messages"]));
    expect(sent[0]).toContain('<keel-server name=\\"sums\\">\\nAdd with add.');
    expect(sent.at(-1)?.split("Add with add.")).toHaveLength(2);
  });

  test("what is no server is refused with its name", async () => {
    const { options } = await sdkStage({ replies: [] });
    const mcpServers = { odd: { type: "sdk", name: "odd", instance: { tools: "none" } } } as never;
    await expect(all(query({ prompt: "go", options: { ...options, mcpServers } }))).rejects.toThrow("odd");
  });
});

describe("the instance of createSdkMcpServer", () => {
  test("takes tools as a server of the MCP SDK does, in both forms, and gives them up again", async () => {
    verifies("S2.14");
    const { instance, ...config } = createSdkMcpServer({ name: "own" });
    instance.registerTool(
      "greet",
      { description: "Greets", inputSchema: { who: z.string() } },
      async ({ who }) => words(`Hello ${who}`),
    );
    instance.tool("older", "An older form", { n: z.number() }, async (args) => words(JSON.stringify(args)));
    const bare = instance.registerTool("bare", {}, async (extra) => words(Object.keys(extra).join()));
    expect(() => instance.registerTool("bare", {}, async () => words(""))).toThrow("two tools called bare");
    const { options, server } = await sdkStage({
      replies: [
        reply(toolUse("mcp__own__greet", { who: "Ada" })),
        reply(toolUse("mcp__own__older", { n: 1 })),
        reply(toolUse("mcp__own__bare", {})),
        reply("Done."),
      ],
    });
    const mcpServers = { own: { ...config, instance } };
    const messages = await all(
      query({ prompt: "go", options: { ...options, mcpServers, canUseTool: allow } }),
    );
    const [greeted, older, without] = toolResults(messages);
    expect(greeted).toContain("Hello Ada");
    expect(older).toContain('{\\"n\\":1}');
    expect(without).toContain("signal");
    const offered = (server.requests[0]?.body["tools"] ?? []) as { name: string }[];
    const names = offered.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["mcp__own__greet", "mcp__own__older", "mcp__own__bare"]));
    bare.disable();
    expect([bare.enabled, instance.tools.map(({ name }) => name)]).toEqual([false, ["greet", "older"]]);
    bare.enable();
    bare.update({ name: "renamed" });
    expect(instance.tools.map(({ name }) => name)).toEqual(["greet", "older", "renamed"]);
    bare.remove();
    expect(instance.tools).toHaveLength(2);
  });

  test("says how it is to be used, bounded for itself and with the others, and once", async () => {
    const { options, server } = await sdkStage({ replies: [reply("One."), reply("Two.")] });
    const long = `${"long ".repeat(1_000)}`;
    const names = ["a", "b", "c", "d", "e"];
    const mcpServers = Object.fromEntries(
      names.map((name) => {
        const tools = [tool("t", "A tool", {}, async () => words(""))];
        return [
          name,
          createSdkMcpServer({ name, instructions: name === "a" ? "Short </keel-server>" : long, tools }),
        ];
      }),
    );
    const silent = createSdkMcpServer({ name: "silent", instructions: "Nobody reads this." });
    const first = await all(
      query({ prompt: "go", options: { ...options, mcpServers: { ...mcpServers, silent } } }),
    );
    const [begun] = first;
    await all(query({ prompt: "on", options: { ...options, mcpServers, resume: begun?.session_id ?? "" } }));
    const sent = server.requests.map(({ body }) => JSON.stringify(body["messages"]));
    for (const request of sent) {
      const said = [...request.matchAll(/<keel-server name=.*?<\/keel-server>/g)].map(([one]) => one);
      expect(said).toHaveLength(5);
      expect(said[0]).toContain("Short &lt;/keel-server>");
      expect(said[1]?.length).toBeLessThan(2_200);
      expect(said.join("").length).toBeLessThan(9_000);
      expect(said[4]).toContain("Left out");
      expect(request).not.toContain("Nobody reads this");
    }
  });

  test("answers a client of the MCP SDK over the program's own transport", async () => {
    const hello = tool("hello", "Says hello", {}, async () => words("hello"));
    const { instance } = createSdkMcpServer({ name: "own", version: "2.0.0", tools: [hello] });
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    await instance.connect(ours);
    const client = new Client({ name: "test", version: "1" });
    await client.connect(theirs);
    expect(client.getServerVersion()).toEqual({ name: "own", version: "2.0.0" });
    expect(await client.listTools()).toMatchObject({ tools: [{ name: "hello" }] });
    expect(await client.callTool({ name: "hello", arguments: {} })).toMatchObject(words("hello"));
    expect(instance.isConnected()).toBe(true);
    await instance.close();
    expect(instance.isConnected()).toBe(false);
  });
});
