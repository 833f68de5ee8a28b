/** A server of tools on standard streams, for whoever has tools: what each call does is theirs to say. */
import type { Readable, Writable } from "node:stream";
import { toFault } from "../kernel/fault.ts";
import type { JsonObject } from "../kernel/json.ts";
import { maxMessageBytes } from "./limits.ts";

export type ServedTool = {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
};

export type ServedAnswer = { readonly text: string; readonly failed: boolean };

export type ToolServerOptions = {
  readonly name: string;
  readonly version: string;
  readonly tools: readonly ServedTool[];
  readonly input: Readable;
  readonly output: Writable;
  call(name: string, input: unknown, signal: AbortSignal): Promise<ServedAnswer>;
};

/** Resolves when the other side has closed its end. */
export async function serveTools({
  name,
  version,
  tools,
  input,
  output,
  call,
}: ToolServerOptions): Promise<void> {
  const [{ Server }, { StdioServerTransport }] = await Promise.all([
    import("@modelcontextprotocol/server"),
    import("@modelcontextprotocol/server/stdio"),
  ]);
  const server = new Server({ name, version }, { capabilities: { tools: {} } });
  const ended = Promise.withResolvers<void>();
  server.onclose = () => ended.resolve();
  server.onerror = () => undefined; // A line that is no message is answered by the library.
  input.once("end", () => ended.resolve());
  input.once("close", () => ended.resolve());
  server.setRequestHandler("tools/list", async () => ({
    tools: tools.map((tool) => ({
      ...tool,
      inputSchema: { ...tool.inputSchema, type: "object" as const },
    })),
  }));
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
    const answer = await call(params.name, params.arguments ?? {}, mcpReq.signal).catch(
      (thrown: unknown): ServedAnswer => ({ text: toFault(thrown).message, failed: true }),
    );
    return { content: [{ type: "text" as const, text: answer.text }], isError: answer.failed };
  });
  await server.connect(new StdioServerTransport(input, output, { maxBufferSize: maxMessageBytes }));
  await ended.promise;
  await server.close();
}
