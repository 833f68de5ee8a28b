/** Two tools over the resources of all servers: what there is, and what one of it holds. */
import * as z from "zod/mini";
import { toFault } from "../kernel/fault.ts";
import type { Json } from "../kernel/json.ts";
import { schemaOf } from "../kernel/schema.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { Tool, ToolOutcome } from "../ports/tool.ts";
import type { McpResource } from "../protocol/mcp.ts";
import { type InputBlock, text } from "../protocol/message.ts";
import { failure } from "./as-tools.ts";

export type ResourceAccess = {
  resources(): readonly McpResource[];
  read(server: string, uri: string): Promise<InputBlock[]>;
};

const listInput = z.object({
  server: z.optional(z.string().check(z.describe("Only those of this server; all when left out."))),
});

const readInput = z.object({
  server: z.string().check(z.describe("The name of the server.")),
  uri: z.string().check(z.describe("The address of the resource, as the list has it.")),
});

export function resourceTools(context: ResourceAccess): Tool[] {
  const list = defineTool<z.infer<typeof listInput>>({
    name: "ListMcpResourcesTool",
    description: "Lists what MCP servers offer for reading: each with its server, address, name and type.",
    input: schemaOf(listInput),
    deferred: true,
    traits: { readOnly: true, concurrent: true, replay: "safe" },
    claims: async () => [],
    async *run({ server }): AsyncGenerator<never, ToolOutcome> {
      const found = context.resources().filter((one) => server === undefined || one.server === server);
      const said = found.length === 0 ? "There are no resources." : JSON.stringify(found, null, 1);
      return {
        content: [text(said)],
        display: { kind: "text", text: `${found.length} resources` },
        data: JSON.parse(JSON.stringify(found)) as Json,
      };
    },
  });
  const read = defineTool<z.infer<typeof readInput>>({
    name: "ReadMcpResourceTool",
    description: "Reads a resource of an MCP server.",
    input: schemaOf(readInput),
    deferred: true,
    traits: { readOnly: true, concurrent: true },
    async *run({ server, uri }): AsyncGenerator<never, ToolOutcome> {
      try {
        const content = await context.read(server, uri);
        return { content, display: { kind: "text", text: uri } };
      } catch (thrown) {
        return failure(toFault(thrown).message);
      }
    },
  });
  return [list as Tool, read as Tool];
}
