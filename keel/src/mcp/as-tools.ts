/**
 * The tools of a server as tools of a session: named after the server, bounded, pinned, asked before they run. What a
 * server says about its tools is a hint; permission does not depend on it.
 */
import type { CallToolResult, Tool as ServerTool } from "@modelcontextprotocol/client";
import * as z from "zod/mini";
import { reasonOf, toFault } from "../kernel/fault.ts";
import {
  canonicalJson,
  isDeeperThan,
  isJson,
  isObject,
  type Json,
  type JsonObject,
  present,
} from "../kernel/json.ts";
import { whileRunning } from "../kernel/queue.ts";
import { failed, ok } from "../kernel/result.ts";
import { type Schema, schemaOf } from "../kernel/schema.ts";
import { plainText, shorten, undisguised } from "../kernel/text.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { BoxTool, Tool, ToolContext, ToolOutcome } from "../ports/tool.ts";
import type { McpResource } from "../protocol/mcp.ts";
import { type InputBlock, text } from "../protocol/message.ts";
import type { Display } from "../protocol/tool.ts";
import {
  maxDescriptionCharacters,
  maxOfferedCharacters,
  maxSchemaCharacters,
  maxSchemaDepth,
  maxTools,
} from "./limits.ts";
import type { Link } from "./link.ts";
import { wireName } from "./names.ts";
import { type Definition, markOf, type Pinned, type Pins } from "./pins.ts";
import type { CallHost } from "./requests.ts";
import { outcomeOf } from "./results.ts";

/** A tool as the server offers it now, bounded. */
export type OfferedTool = Definition & {
  readonly mark: string;
  readonly wireName: string;
  readonly readOnly: boolean;
  readonly destructive: boolean;
  readonly searchHint: string | undefined;
};

/** By name; the first of two that would have one name counts. `problems`: what was left out and why, for a person. */
export function findTools(
  server: string,
  offered: readonly ServerTool[],
): { readonly tools: readonly OfferedTool[]; readonly problems: readonly string[] } {
  const problems: string[] = [];
  const known = new Map<string, OfferedTool>();
  const sorted = offered.toSorted((left, right) => (left.name < right.name ? -1 : 1));
  for (const tool of sorted.slice(0, maxTools)) {
    const found = foundOf(server, tool);
    if (typeof found === "string")
      problems.push(`${server}: ${undisguised(shorten(tool.name, 80))} is left out: ${found}.`);
    else if (known.has(found.wireName))
      problems.push(`${server}: a second tool is called ${found.wireName}.`);
    else known.set(found.wireName, found);
  }
  if (offered.length > maxTools)
    problems.push(
      `${server}: it has ${offered.length} tools; only the first ${maxTools} by name are offered.`,
    );
  return { tools: [...known.values()], problems };
}

function foundOf(server: string, tool: ServerTool): OfferedTool | string {
  const schema: unknown = tool.inputSchema;
  if (!isJson(schema) || !isObject(schema) || schema["type"] !== "object") return "its input is no object";
  if (isDeeperThan(schema, maxSchemaDepth)) return `its schema is nested deeper than ${maxSchemaDepth}`;
  if (JSON.stringify(schema).length > maxSchemaCharacters) return "its schema is too large";
  const { name, description = "", inputSchema, outputSchema, annotations, title } = tool;
  const hint = tool._meta?.["anthropic/searchHint"];
  return {
    name,
    wireName: wireName(server, name),
    description: shorten(plainText(description), maxDescriptionCharacters),
    schema,
    mark: markOf({ name, title, description, inputSchema, outputSchema, annotations }),
    readOnly: annotations?.readOnlyHint === true,
    destructive: annotations?.readOnlyHint !== true && annotations?.destructiveHint === true,
    searchHint: typeof hint === "string" ? shorten(plainText(hint), 200) : undefined,
  };
}

export type McpToolsOptions = {
  readonly link: Link;
  readonly pins: Pins;
  /** What was approved, by the server's own name of a tool. */
  readonly pinned: ReadonlyMap<string, Pinned>;
  readonly late: BoxTool["late"];
  readonly timeoutMs: number;
  /** A person has approved a tool as it is now. */
  approved(): void;
};

/** A tool of a server needs little of a session: who calls, and somebody to ask. A host can call it too. */
export type McpTool = Omit<Tool, "run"> &
  Pick<BoxTool, "late"> & {
    run(
      input: unknown,
      context: Pick<ToolContext, "callId" | "ask" | "consult">,
      signal: AbortSignal,
    ): AsyncGenerator<Display, ToolOutcome>;
  };

export function boxTools(found: readonly OfferedTool[], options: McpToolsOptions): McpTool[] {
  const size = found.reduce(
    (sum, { description, schema }) => sum + description.length + JSON.stringify(schema).length,
    0,
  );
  // Too much to read at every request: the model gets the names and loads what it needs.
  const deferred = size > maxOfferedCharacters && options.late !== "joins";
  return found.map((one) => {
    const tool = toolOf(one, { ...options, deferred });
    return Object.defineProperty(tool, "late", { value: options.late, enumerable: true }) as McpTool;
  });
}

/** The input of a server's tool is checked by the server; here it only has to be an object. */
const schemaFor = (json: JsonObject): Schema<JsonObject> => ({
  json,
  parse: (value) =>
    isObject(value) && isJson(value)
      ? ok(value as JsonObject)
      : failed([{ path: "", message: "the input must be an object" }]),
});

function toolOf(found: OfferedTool, options: McpToolsOptions & { readonly deferred: boolean }): Tool {
  const { link, pinned, timeoutMs, deferred } = options;
  const approved = pinned.get(found.name);
  const hasChanged = approved !== undefined && approved.mark !== found.mark;
  // The model is told what was approved, and nothing else before a person has seen it.
  const told = hasChanged ? approved : found;
  return defineTool<JsonObject>({
    name: found.wireName,
    description:
      `${told.description}\n(A tool of the MCP server ${shorten(plainText(link.name), 60)}.)`.trim(),
    input: schemaFor(told.schema),
    deferred,
    ...present({ searchHint: found.searchHint }),
    traits: { readOnly: found.readOnly, concurrent: found.readOnly, destructive: found.destructive },
    async *run(input, context, signal) {
      if (hasChanged) {
        const refused = await askAboutChange({ found, approved, wish: options }, context.ask);
        if (refused) return refused;
      }
      const { callId, ask, consult, trace } = context;
      const request = { tool: found.name, input, callId, trace, timeoutMs, host: { ask, consult } };
      try {
        return outcomeOf(
          yield* whileRunning<Display, CallToolResult>((tell) => {
            const progress = (words: string) => tell({ kind: "text", text: plainText(words) });
            return link.call({ ...request, progress }, signal);
          }),
        );
      } catch (thrown) {
        return failure(reasonOf(thrown));
      }
    },
  }) as Tool;
}

/** Nothing of a changed tool runs, whatever the mode, before somebody has seen what it is now. */
async function askAboutChange(
  { found, approved, wish }: { found: OfferedTool; approved: Pinned; wish: McpToolsOptions },
  ask: CallHost["ask"],
): Promise<ToolOutcome | undefined> {
  const answer = await ask({
    kind: "permission",
    title: `The tool ${found.wireName} is not what it was. Use it as it is now?`,
    body: { kind: "text", text: sayChange(approved, found) },
    input: { server: wish.link.name, tool: found.name, description: found.description, schema: found.schema },
    claims: [{ action: "use", target: `${found.wireName}, changed` }],
    reason: "its definition has changed since it was approved",
    options: [
      { id: "once", label: "Yes, from now on", verdict: "allow" },
      { id: "no", label: "No", verdict: "deny" },
    ],
  });
  if (answer.verdict === "deny")
    return {
      ...failure(
        answer.reason ?? "The definition of this tool has changed, and nobody approved the new one.",
      ),
      denied: { by: answer.by, reason: answer.reason ?? "The changed tool was not approved." },
    };
  await wish.pins.approve(found);
  wish.approved();
  if (canonicalJson(approved.schema) === canonicalJson(found.schema)) return undefined;
  const now = shorten(JSON.stringify(found.schema), maxSchemaCharacters);
  return failure(
    `The input of this tool has changed and was approved. Call it again with an input that fits: ${now}`,
  );
}

function sayChange(before: Pinned, now: OfferedTool): string {
  const lines = (title: string, { description, schema }: Definition): string =>
    `${title}:\n${undisguised(description)}\n${undisguised(shorten(JSON.stringify(schema), 4_000))}`;
  return `${lines("Approved", before)}\n\n${lines("Now", now)}`;
}

const failure = (words: string): ToolOutcome => ({
  content: [text(plainText(words))],
  display: { kind: "text", text: plainText(words) },
  failed: true,
});

/** Two tools over the resources of all servers: what there is, and what one of it holds. */
type ResourceAccess = {
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
    aliases: ["ListMcpResources"],
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
    aliases: ["ReadMcpResource"],
    description: "Reads a resource of an MCP server.",
    input: schemaOf(readInput),
    deferred: true,
    traits: { readOnly: true, concurrent: true },
    // Somebody named the server: what it shows for reading is read without a question, as a file of the folder is.
    claims: async () => [],
    async *run({ server, uri }): AsyncGenerator<never, ToolOutcome> {
      try {
        const content = await context.read(server, uri);
        const contents = content.map((block) =>
          block.type === "text" ? { uri, text: block.text } : { uri, mimeType: block.mediaType },
        );
        return { content, display: { kind: "text", text: uri }, data: { contents } };
      } catch (thrown) {
        return failure(toFault(thrown).message);
      }
    },
  });
  return [list as Tool, read as Tool];
}
