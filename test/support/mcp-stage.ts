// A session with MCP servers for tests: what the model calls is scripted, servers are real.
import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { onTestFinished } from "vitest";
import type { Json } from "../../keel/src/kernel/json.ts";
import type { SDKMessage } from "../../keel/src/sdk/messages/messages.ts";
import type { Options } from "../../keel/src/sdk/options/options.ts";
import { query } from "../../keel/src/sdk/query/query.ts";
import type { McpServerStatus } from "../../keel/src/sdk/tools/mcp-server.ts";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { type SdkStage, sdkStage } from "./sdk-stage.ts";

const modules = path.resolve(import.meta.dirname, "../../node_modules/@modelcontextprotocol");
export const everything = path.join(modules, "server-everything/dist/index.js");
export const filesystem = path.join(modules, "server-filesystem/dist/index.js");

export type Called = {
  readonly texts: readonly string[];
  readonly types: readonly string[];
  readonly failed: boolean;
};

export type Conversation = {
  readonly stage: SdkStage;
  readonly messages: readonly SDKMessage[];
  readonly status: readonly McpServerStatus[];
  /** What came of each call, in order. */
  readonly calls: readonly Called[];
};

/** One turn in which the model makes these calls, one after the other; each is allowed. A text is a reply without one. */
export async function converse(
  calls: readonly (readonly [tool: string, input: Json] | string)[],
  optionsFor: (stage: SdkStage) => Options,
): Promise<Conversation> {
  const replies = [
    ...calls.map((call) => (typeof call === "string" ? reply(call) : reply(toolUse(...call)))),
    reply("done"),
  ];
  const stage = await sdkStage({ replies });
  const session = query({
    prompt: "go",
    options: {
      ...stage.options,
      settings: { mcp: { startMs: 60_000, connectMs: 60_000 } },
      canUseTool: async (_, input) => ({ behavior: "allow", updatedInput: input }),
      ...optionsFor(stage),
    },
  });
  const messages: SDKMessage[] = [];
  let status: McpServerStatus[] = [];
  for await (const message of session) {
    messages.push(message);
    if (message.type === "assistant") status = await session.mcpServerStatus();
  }
  return { stage, messages, status, calls: messages.flatMap(calledIn) };
}

function calledIn(message: SDKMessage): Called[] {
  if (message.type !== "user" || !Array.isArray(message.message.content)) return [];
  return (message.message.content as { content?: unknown; is_error?: boolean }[]).map(
    ({ content, is_error }) => {
      const parts = Array.isArray(content) ? content : [{ type: "text", text: content }];
      return {
        texts: parts.flatMap((part) => (part.type === "text" ? [String(part.text)] : [])),
        types: parts.map(({ type }) => String(type)),
        failed: is_error === true,
      };
    },
  );
}

/** A server over HTTP as a process of its own; ended with the test. */
export async function startRemote(
  kind: "streamableHttp" | "sse",
): Promise<{ url: string; child: ChildProcess }> {
  const port = await freePort();
  const child = spawn(process.execPath, [everything, kind], {
    env: { ...process.env, PORT: String(port) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let said = "";
  child.stderr?.on("data", (chunk) => {
    said += chunk;
  });
  for (let look = 0; look < 600 && !/listening|running/i.test(said); look++) await pause(50);
  return { url: `http://127.0.0.1:${port}/${kind === "sse" ? "sse" : "mcp"}`, child };
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address !== "object" || !address) throw new Error("no port");
  return address.port;
}

/** Processes with this text on their command line. */
export function processesWith(text: string): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => {
      try {
        const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
        return words.includes(text) ? [`${pid} ${words}`] : [];
      } catch {
        return []; // Ended meanwhile.
      }
    });
}

/** Two seconds are allowed: then nobody may be left. */
export async function nobodyWith(text: string): Promise<string[]> {
  for (let look = 0; look < 40 && processesWith(text).length > 0; look++) await pause(50);
  return processesWith(text);
}
