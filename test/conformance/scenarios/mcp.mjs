export default function scenarios({ allow, deny, reply, startMcpHttp, text, toolUse }) {
  const ECHO_SERVER = {
    type: "stdio",
    command: "node",
    args: ["{{fixtures}}/mcp-echo.mjs"],
    alwaysLoad: true,
  };

  const oneTool = ({ sdk }, server, name, shape, handler) => ({
    mcpServers: {
      [server]: sdk.createSdkMcpServer({
        name: server,
        version: "1.2.3",
        alwaysLoad: true,
        tools: [sdk.tool(name, `The tool ${name}`, shape, handler)],
      }),
    },
  });

  return {
    "sdk-tool": {
      about: "a tool of the host process; every MCP tool is asked",
      replies: [reply(toolUse("mcp__calc__add", { a: 2, b: 3 })), reply("The sum is 5.")],
      permission: allow,
      options: (kit) =>
        oneTool(kit, "calc", "add", { a: kit.z.number(), b: kit.z.number() }, async ({ a, b }) => {
          kit.callback("toolHandler", { input: { a, b } });
          return { content: [text(String(a + b))] };
        }),
      data: ["5"],
    },

    "sdk-tool-allowed": {
      about: "an MCP tool named in allowedTools is not asked",
      replies: [reply(toolUse("mcp__calc__add", { a: 2, b: 3 })), reply("The sum is 5.")],
      permission: deny("should not be asked"),
      options: (kit) => ({
        allowedTools: ["mcp__calc__add"],
        ...oneTool(kit, "calc", "add", { a: kit.z.number(), b: kit.z.number() }, async ({ a, b }) => ({
          content: [text(String(a + b))],
        })),
      }),
      data: ["5"],
    },

    "sdk-tool-throws": {
      about: "a tool handler that throws gives a tool error",
      replies: [reply(toolUse("mcp__calc__boom", {})), reply("It failed.")],
      options: (kit) => ({
        allowedTools: ["mcp__calc__boom"],
        ...oneTool(kit, "calc", "boom", {}, async () => {
          throw new Error("tool handler exploded");
        }),
      }),
      probes: ["tool handler exploded"],
    },

    "sdk-tool-invalid-input": {
      about: "input that does not fit the schema does not reach the handler",
      replies: [reply(toolUse("mcp__calc__add", { a: "two" })), reply("Sorry.")],
      options: (kit) => ({
        allowedTools: ["mcp__calc__add"],
        ...oneTool(kit, "calc", "add", { a: kit.z.number(), b: kit.z.number() }, async () => {
          kit.callback("toolHandler", {});
          return { content: [] };
        }),
      }),
    },

    "stdio-server": {
      about: "a server on stdio, next to one that cannot be started",
      replies: [reply(toolUse("mcp__echo__echo", { text: "hey" })), reply("Echoed.")],
      permission: allow,
      options: {
        mcpServers: { echo: ECHO_SERVER, broken: { type: "stdio", command: "/nonexistent/command" } },
      },
      onMessage: async (message, query, kit) => {
        if (message.type === "assistant" && !kit.asked) {
          kit.asked = true;
          const servers = await query.mcpServerStatus();
          const facts = ({ name, status, tools }) => [
            name,
            { status, tools: tools?.map((tool) => tool.name) },
          ];
          kit.note("status", Object.fromEntries(servers.map(facts)));
        }
      },
      data: ["echo: hey", "connected", "failed", "quit"],
    },

    "http-server": {
      about: "a server over HTTP, with configured headers",
      replies: [reply(toolUse("mcp__web__echo", { text: "over http" })), reply("Echoed.")],
      run: async (kit) => {
        const { url, seenHeaders } = await startMcpHttp();
        const mcpServers = { web: { type: "http", url, headers: { "x-test": "yes" }, alwaysLoad: true } };
        await kit.consume(kit.query("go", { allowedTools: ["mcp__web__echo"], mcpServers }));
        kit.note(
          "every request has the header",
          seenHeaders.length > 0 && seenHeaders.every((headers) => headers["x-test"] === "yes"),
        );
      },
      data: ["echo: over http"],
    },

    "tool-alias": {
      about: "toolAliases sends a built-in name to an MCP tool",
      replies: [reply(toolUse("Bash", { command: "uptime" })), reply("Ran elsewhere.")],
      permission: allow,
      options: (kit) => ({
        toolAliases: { Bash: "mcp__remote__bash" },
        ...oneTool(kit, "remote", "bash", { command: kit.z.string() }, async ({ command }) => ({
          content: [text(`remote: ${command}`)],
        })),
      }),
      data: ["remote: uptime"],
    },

    "set-servers": {
      about: "setMcpServers adds and removes servers between turns",
      replies: [
        reply("One."),
        reply(toolUse("mcp__echo__echo", { text: "later" })),
        reply("Two."),
        reply("Three."),
      ],
      run: async (kit) => {
        const server = {
          type: "stdio",
          command: "node",
          args: [`${kit.fixtures}/mcp-echo.mjs`],
          alwaysLoad: true,
        };
        await kit.converse(
          [
            "one",
            async (query) => {
              await kit.call("add", () => query.setMcpServers({ echo: server }));
              return "two";
            },
            async (query) => {
              await kit.call("remove", () => query.setMcpServers({}));
              return "three";
            },
          ],
          { allowedTools: ["mcp__echo__echo"] },
        );
      },
      data: ["echo: later", "echo"],
    },
  };
}
