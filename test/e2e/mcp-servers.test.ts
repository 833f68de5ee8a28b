// Real servers from npm, over every transport: what they offer is called, read and asked for.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { WebSocketServer } from "ws";
import { converse, everything, filesystem, nobodyWith, startRemote } from "../support/mcp-stage.ts";
import { chargesIn, logged } from "../support/sdk-stage.ts";
import { verifies } from "../support/verifies.ts";

const patience = { timeout: 120_000 };
const server = (args: string[]) => ({ command: process.execPath, args });

describe("the server with everything", () => {
  const calls = [
    ["mcp__all__echo", { message: "hello" }],
    ["mcp__all__get-sum", { a: 2, b: 3 }],
    ["mcp__all__get-tiny-image", {}],
    ["mcp__all__get-structured-content", { location: "New York" }],
    ["mcp__all__get-resource-links", { count: 2 }],
    ["mcp__all__trigger-long-running-operation", { duration: 1, steps: 2 }],
  ] as const;

  const expectAll = ({ calls: made, status }: Awaited<ReturnType<typeof converse>>): void => {
    expect(status).toMatchObject([{ name: "all", status: "connected", serverInfo: { version: "2.0.0" } }]);
    expect(made.map(({ failed }) => failed)).toEqual(calls.map(() => false));
    expect(made[0]?.texts.join()).toContain("hello");
    expect(made[1]?.texts.join()).toContain("5");
    expect(made[2]?.types).toContain("image");
    expect(made[3]?.texts.join()).toContain("temperature");
    expect(made[4]?.texts.length).toBeGreaterThanOrEqual(2);
    expect(made[5]?.texts.join()).toContain("completed");
  };

  test("on standard streams", patience, async () => {
    verifies("S4.60", "S0.73", "S2.14", "S4.62");
    const conversation = await converse(calls, () => ({
      mcpServers: { all: server([everything, "stdio"]) },
    }));
    expectAll(conversation);
    // What a server says about its use is told at the start, between tags.
    expect(JSON.stringify(conversation.stage.server.requests[0]?.body)).toContain("keel-server name=");
    expect(await nobodyWith(`${everything} stdio`)).toEqual([]);
  });

  test("over streamable HTTP", patience, async () => {
    verifies("S4.60", "S0.73", "S2.14");
    const { url } = await startRemote("streamableHttp");
    expectAll(await converse(calls, () => ({ mcpServers: { all: { type: "http", url } } })));
  });

  test("over server-sent events", patience, async () => {
    verifies("S4.60", "S0.73", "S2.14");
    const { url } = await startRemote("sse");
    expectAll(await converse(calls, () => ({ mcpServers: { all: { type: "sse", url } } })));
  });

  test("it asks the person, and it asks for the roots", patience, async () => {
    verifies("P45");
    const asked: unknown[] = [];
    const { calls: made, stage } = await converse(
      [
        ["mcp__all__trigger-elicitation-request", {}],
        ["mcp__all__get-roots-list", {}],
      ],
      () => ({
        mcpServers: { all: server([everything, "stdio"]) },
        onElicitation: async (request) => {
          asked.push(request);
          return { action: "accept", content: { name: "Ada", check: true } };
        },
      }),
    );
    expect(asked).toMatchObject([{ serverName: "all", mode: "form", requestedSchema: { type: "object" } }]);
    expect(made[0]?.texts.join("\n")).toContain("Ada");
    expect(made[1]?.texts.join("\n")).toContain(path.basename(stage.cwd));
  });

  test("it asks the model, with leave", patience, async () => {
    verifies("P45");
    const titles: string[] = [];
    const {
      calls: made,
      messages,
      stage,
    } = await converse(
      [["mcp__all__trigger-sampling-request", { prompt: "Say hi.", maxTokens: 50 }], "hi from the model"],
      () => ({
        mcpServers: { all: server([everything, "stdio"]) },
        canUseTool: async (_, input, { title = "" }) => {
          titles.push(title);
          return { behavior: "allow", updatedInput: input };
        },
      }),
    );
    expect(titles).toEqual([
      "Allow mcp__all__trigger-sampling-request?",
      "May the server all ask the model?",
    ]);
    expect(made[0]?.texts.join("\n")).toContain("hi from the model");
    // It is on the bill of the session, with the server's name.
    const result = messages.find((message) => message.type === "result");
    const events = logged(stage.home, result?.session_id ?? "");
    expect(events.filter(({ type }) => type === "model.consulted")).toMatchObject([
      { by: { kind: "server", name: "all" }, costUsd: expect.any(Number) },
    ]);
    const charges = chargesIn(events);
    expect(charges.count).toBe(3);
    expect(result?.total_cost_usd).toBeCloseTo(charges.sumUsd, 10);
  });
});

describe("the server for files", () => {
  test("works in the roots of the session, on standard streams", patience, async () => {
    verifies("S4.60", "P45");
    // It asks for the roots when it is connected, and may be asked by us before it has them.
    const ask = ["mcp__files__list_allowed_directories", {}] as const;
    const { calls } = await converse([ask, ask, ask, ask], () => ({
      mcpServers: { files: server([filesystem]) },
    }));
    expect(calls[0]).toMatchObject({ failed: false });
    expect(calls.at(-1)?.texts.join()).toContain("/work");
  });

  test("reads a file that it may read, and says no to another", patience, async () => {
    const { calls } = await converse(
      [
        ["mcp__files__read_text_file", { path: "note.txt" }],
        ["mcp__files__read_text_file", { path: "/etc/passwd" }],
      ],
      ({ cwd }) => {
        mkdirSync(path.join(cwd, "in"));
        writeFileSync(path.join(cwd, "note.txt"), "the note");
        return { mcpServers: { files: server([filesystem, cwd]) } };
      },
    );
    expect(calls.map(({ failed }) => failed)).toEqual([false, true]);
    expect(calls[0]?.texts).toContain("the note");
  });
});

test("a server over a WebSocket, with headers", patience, async () => {
  verifies("S4.60");
  const seen: (string | undefined)[] = [];
  const sockets = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  onTestFinished(() => void sockets.close());
  sockets.on("connection", (socket, request) => {
    seen.push(request.headers["x-key"]?.toString());
    socket.on("message", (data) => {
      const { id, method, params } = JSON.parse(String(data));
      if (id === undefined) return;
      const results: Record<string, unknown> = {
        initialize: {
          protocolVersion: params?.protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: "socket", version: "1" },
        },
        "tools/list": { tools: [{ name: "go", inputSchema: { type: "object" } }] },
        "tools/call": { content: [{ type: "text", text: "over the socket" }] },
      };
      const result = results[method];
      const answer = result ? { result } : { error: { code: -32_601, message: "no such method" } };
      socket.send(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
    });
  });
  await new Promise((resolve) => sockets.once("listening", resolve));
  const address = sockets.address();
  const port = typeof address === "object" && address ? address.port : 0;
  const { calls } = await converse([["mcp__socket__go", {}]], () => ({
    mcpServers: {
      // The types are those of the interface, which has no such server.
      socket: { type: "ws" as "http", url: `ws://127.0.0.1:${port}`, headers: { "x-key": "abc" } },
    },
  }));
  expect(calls).toMatchObject([{ failed: false, texts: ["over the socket"] }]);
  expect(seen).toEqual(["abc"]);
});
