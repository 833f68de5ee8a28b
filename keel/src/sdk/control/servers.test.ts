// Both ends of a wire in one process: the servers of a program at one end, whoever uses their tools at the other.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { describe, expect, test } from "vitest";
import * as zod from "zod";
import * as z from "zod/mini";
import type { Options } from "../options/options.ts";
import { createSdkMcpServer } from "../tools/mcp-server.ts";
import { tool } from "../tools/tool.ts";
import { Channel } from "./channel.ts";
import type { ControlFrame } from "./frames.ts";
import { answerWith, localServers, wireHooks } from "./local-callbacks.ts";
import { remoteElicitation, remoteHooks, remotePermission } from "./remote-callbacks.ts";
import { RemoteServers } from "./remote-servers.ts";

/** The executable's end of a wire whose other end answers with these options. */
function wireTo(options: Options): { far: Channel; servers: RemoteServers } {
  const ends: { near?: Channel; far?: Channel } = {};
  const deliver = (to: "near" | "far") => (frame: ControlFrame) => {
    const end = ends[to];
    if (frame.type === "control_request")
      end?.take({ kind: "request", id: frame.request_id, request: frame.request });
    if (frame.type === "control_response") end?.take({ kind: "response", response: frame.response });
    if (frame.type === "control_cancel_request") end?.take({ kind: "cancel", id: frame.request_id });
  };
  let ids = 0;
  const newId = (): string => {
    ids += 1;
    return `${ids}`;
  };
  const local = localServers(options, (server) => (message) => {
    void ends.near?.request({ subtype: "mcp_message", server_name: server, message });
  });
  const near = new Channel({
    send: deliver("far"),
    answer: answerWith(options, { hooks: wireHooks(options).callbacks, servers: local }),
    newId,
  });
  const far: Channel = new Channel({
    send: deliver("near"),
    answer: async (request) => servers.hear(request as never),
    newId,
  });
  const servers = new RemoteServers(far);
  Object.assign(ends, { near, far });
  return { far, servers };
}

const never = new AbortController().signal;
const add = tool(
  "add",
  "adds",
  { a: z.number(), b: z.number() },
  async ({ a, b }, { sendNotification }) => {
    await sendNotification({ method: "notifications/progress", params: { progress: 1 } });
    if (a < 0) throw new Error("below zero");
    return { content: [{ type: "text", text: `${a + b}` }] };
  },
  { annotations: { readOnlyHint: true } },
);
const calc = createSdkMcpServer({ name: "calc", version: "2", instructions: "adds", tools: [add] });

async function connected(options: Options) {
  const { servers } = wireTo(options);
  const failed: unknown[] = [];
  const found = await servers.connect(
    { subtype: "initialize", sdkMcpServers: ["calc"] },
    { signal: never, failed: (name, why) => failed.push([name, why]) },
  );
  return { found, failed };
}

const extra = (heard: unknown[] = []) => ({
  signal: never,
  requestId: "call-1",
  _meta: { progressToken: "call-1", "claudecode/toolUseId": "call-1" },
  sendNotification: async (told: unknown) => void heard.push(told),
});

describe("a server of the program", () => {
  test("says what it is and has, and its tools run at its end", async () => {
    const { found } = await connected({ mcpServers: { calc } });
    const { instance } = found["calc"] ?? {};
    expect(instance).toMatchObject({ name: "calc", version: "2", instructions: "adds" });
    const [remote] = instance?.tools ?? [];
    expect(remote).toMatchObject({ name: "add", description: "adds", annotations: { readOnlyHint: true } });
    const heard: unknown[] = [];
    expect(await remote?.handler({ a: 2, b: 3 } as never, extra(heard))).toEqual({
      content: [{ type: "text", text: "5" }],
    });
    expect(heard).toMatchObject([{ method: "notifications/progress", params: { progress: 1 } }]);
  });

  test("holds inputs against its own schema, and a handler that throws is a failed call", async () => {
    const { found } = await connected({ mcpServers: { calc } });
    const [remote] = found["calc"]?.instance.tools ?? [];
    expect(await remote?.handler({ a: "two" } as never, extra())).toMatchObject({ isError: true });
    expect(await remote?.handler({ a: -1, b: 1 } as never, extra())).toEqual({
      content: [{ type: "text", text: "below zero" }],
      isError: true,
    });
  });

  test("is not asked for what the program has said beforehand", async () => {
    const asked: unknown[] = [];
    const servers = new RemoteServers({
      request: async (request) => {
        asked.push(request);
        return {};
      },
    });
    const found = await servers.connect(
      {
        subtype: "initialize",
        sdkMcpServers: ["calc"],
        sdkMcpServerConfigs: { calc: { timeout: 5 } },
        sdkMcpServerManifests: {
          calc: {
            initializeResult: { serverInfo: { name: "calc", version: "9" } },
            toolsListResult: { tools: [{ name: "add" }] },
          },
        },
      },
      { signal: never, failed: () => undefined },
    );
    expect(asked).toEqual([]);
    expect(found["calc"]).toMatchObject({ timeout: 5, instance: { version: "9", tools: [{ name: "add" }] } });
  });

  test("that was made with the MCP SDK is listed and called all the same", async () => {
    const instance = new McpServer({ name: "sums", version: "3" });
    instance.registerTool("double", { inputSchema: { n: zod.number() } }, async ({ n }) => ({
      content: [{ type: "text", text: `${2 * n}` }],
    }));
    const { found } = await connected({ mcpServers: { calc: { type: "sdk", name: "calc", instance } } });
    expect(found["calc"]?.instance).toMatchObject({ name: "sums", version: "3" });
    const [remote] = found["calc"]?.instance.tools ?? [];
    const extra = {
      signal: never,
      requestId: "1",
      _meta: {} as never,
      sendNotification: async () => undefined,
    };
    expect(await remote?.handler({ n: 4 } as never, extra)).toMatchObject({ content: [{ text: "8" }] });
  });

  test("that is not there, or lists what cannot be read, is left out and named", async () => {
    expect(await connected({})).toEqual({ found: {}, failed: [["calc", "SDK MCP server not found: calc"]] });
    const { servers } = wireTo({ mcpServers: { calc } });
    const failed: string[] = [];
    const added = await servers.among(
      { calc: { type: "sdk" }, nobody: { type: "sdk" }, web: { type: "http" }, odd: 5 },
      { signal: never, failed: (name) => failed.push(name) },
    );
    expect(Object.keys(added)).toEqual(["calc", "web"]);
    expect(failed).toEqual(["nobody", "odd"]);
  });
});

describe("callbacks of the program", () => {
  test("a permission travels with all that is known, and comes back as an answer", async () => {
    const asked: unknown[] = [];
    const { far } = wireTo({
      canUseTool: async (name, input, { signal: _, ...told }) => {
        asked.push([name, input, told]);
        return { behavior: "deny", message: "no", interrupt: true };
      },
    });
    const waits: string[] = [];
    const ask = remotePermission(far, {
      asked: () => waits.push("asked"),
      answered: () => waits.push("answered"),
    });
    const told = {
      toolUseID: "t1",
      requestId: "r1",
      title: "Write?",
      blockedPath: "/x",
      displayName: "Write",
    };
    expect(await ask("Write", { a: 1 }, { signal: never, ...told })).toEqual({
      behavior: "deny",
      message: "no",
      interrupt: true,
    });
    expect(asked).toMatchObject([
      ["Write", { a: 1 }, { toolUseID: "t1", title: "Write?", blockedPath: "/x" }],
    ]);
    expect(waits).toEqual(["asked", "answered"]);
  });

  test("without a callback, and with one that throws, the asker learns why", async () => {
    const nobody = remotePermission(wireTo({}).far, { asked: () => undefined, answered: () => undefined });
    const options = { signal: never, toolUseID: "t", requestId: "r" };
    await expect(nobody("Write", {}, options)).rejects.toThrow("canUseTool callback is not provided.");
    const thrown = wireTo({ canUseTool: () => Promise.reject(new Error("it broke")) });
    const broken = remotePermission(thrown.far, { asked: () => undefined, answered: () => undefined });
    await expect(broken("Write", {}, options)).rejects.toThrow("it broke");
  });

  test("hooks are numbered across all points and called by their number", async () => {
    const called: unknown[] = [];
    const hook = (name: string) => async () => {
      called.push(name);
      return { continue: true };
    };
    const options: Options = {
      hooks: {
        PreToolUse: [{ matcher: "Bash", timeout: 3, hooks: [hook("a"), hook("b")] }],
        Stop: [{ onFailure: "block", hooks: [hook("c")] }],
      },
    };
    const { named } = wireHooks(options);
    expect(named).toEqual({
      PreToolUse: [{ matcher: "Bash", timeout: 3, hookCallbackIds: ["hook_0", "hook_1"] }],
      Stop: [{ onFailure: "block", hookCallbackIds: ["hook_2"] }],
    });
    const map = remoteHooks(wireTo(options).far, { ...named, Setup: [{ hookCallbackIds: ["hook_9"] }] });
    expect(await map["Stop"]?.[0]?.hooks[0]?.({} as never, undefined, { signal: never })).toEqual({
      continue: true,
    });
    expect(called).toEqual(["c"]);
    await expect(map["Setup"]?.[0]?.hooks[0]?.({} as never, undefined, { signal: never })).rejects.toThrow(
      "No hook callback found for ID: hook_9",
    );
  });

  test("a question of a server is declined where nobody answers", async () => {
    const ask = { serverName: "web", message: "Who are you?" };
    expect(await remoteElicitation(wireTo({}).far)(ask, { signal: never, requestId: "1" })).toEqual({
      action: "decline",
    });
    const answered = wireTo({ onElicitation: async () => ({ action: "accept", content: { name: "me" } }) });
    expect(await remoteElicitation(answered.far)(ask, { signal: never, requestId: "1" })).toEqual({
      action: "accept",
      content: { name: "me" },
    });
  });
});
