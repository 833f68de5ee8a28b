// A server of tools that says which trace a call belongs to.
import { createInterface } from "node:readline";

const answer = (id: unknown, result: object): void =>
  void process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize")
    answer(id, {
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: "told", version: "1" },
    });
  else if (method === "tools/list")
    answer(id, {
      tools: [{ name: "trace", description: "Says the trace.", inputSchema: { type: "object" } }],
    });
  else if (method === "tools/call")
    answer(id, { content: [{ type: "text", text: `trace: ${params._meta?.traceparent ?? "none"}` }] });
  else if (id !== undefined) answer(id, {});
});
