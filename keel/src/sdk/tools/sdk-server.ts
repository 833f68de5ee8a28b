/** A server that a program makes of its tools: it adds to them as it would to one of the MCP SDK. */
import { fault } from "../../kernel/fault.ts";
import { present } from "../../kernel/json.ts";
import type { MemoryTransport } from "./in-memory.ts";
import type { AnyToolDefinition, ToolAnnotations, ToolExtra, ToolServer } from "./tool.ts";
import type { OutputOf, Shape, StandardSchema } from "./tool-schema.ts";

/** A tool of a server, to be taken away or changed. A session sees what there was when it began. */
export type RegisteredTool = {
  readonly enabled: boolean;
  enable(): void;
  disable(): void;
  update(changes: Partial<Omit<AnyToolDefinition, "name">> & { name?: string | null }): void;
  remove(): void;
};

type InputSchema = StandardSchema | Shape;
type Handler<S extends InputSchema> = (args: OutputOf<S>, extra: ToolExtra) => unknown;

type RegisteredConfig<S extends InputSchema> = {
  title?: string;
  description?: string;
  inputSchema?: S;
  outputSchema?: InputSchema;
  annotations?: ToolAnnotations;
  _meta?: Record<string, unknown>;
};

type OwnTransport = Pick<MemoryTransport, "onmessage" | "onclose" | "start" | "send" | "close">;

export class SdkMcpServer implements ToolServer {
  readonly name: string;
  readonly version: string;
  readonly instructions: string | undefined;
  readonly #tools = new Map<string, AnyToolDefinition & { isOff?: boolean }>();
  #transport: OwnTransport | undefined;

  /** Throws `usage` for two tools of one name. */
  constructor({ name, version, instructions, tools }: ToolServer) {
    this.name = name;
    this.version = version;
    this.instructions = instructions;
    for (const tool of tools) this.#add(tool);
  }

  get tools(): readonly AnyToolDefinition[] {
    return [...this.#tools.values()].filter(({ isOff }) => !isOff);
  }

  /** Without a schema the handler is given only what is told about the call. Throws `usage` for a name that is taken. */
  registerTool<S extends InputSchema = Record<never, never>>(
    name: string,
    { title, description = "", inputSchema, annotations }: RegisteredConfig<S>,
    handler: Handler<S>,
  ): RegisteredTool {
    const named = title === undefined ? annotations : { title, ...annotations };
    return this.#add({
      name,
      description,
      inputSchema: inputSchema ?? {},
      ...(named === undefined ? {} : { annotations: named }),
      handler: async (args: never, extra) => {
        const run = handler as (...given: unknown[]) => unknown;
        return (await (inputSchema === undefined ? run(extra) : run(args, extra))) as never;
      },
    });
  }

  /** The older form: a name, perhaps a description, perhaps the fields of the input, perhaps hints, the handler. */
  tool(
    name: string,
    ...rest: readonly [...(string | Shape | ToolAnnotations)[], Handler<Shape>]
  ): RegisteredTool {
    const given = rest.slice(0, -1);
    const description = given.find((one) => typeof one === "string");
    const [inputSchema, annotations] = given.filter((one) => typeof one === "object");
    const config = present({ description, inputSchema, annotations }) as RegisteredConfig<Shape>;
    return this.registerTool(name, config, rest.at(-1) as Handler<Shape>);
  }

  isConnected = (): boolean => this.#transport !== undefined;

  /** Sessions look when they begin: nobody waits for this. */
  sendToolListChanged = (): void => undefined;

  /** Answers over a transport of the program's own. */
  async connect(transport: OwnTransport): Promise<void> {
    const { LocalServer } = await import("../control/local-server.ts");
    const server = new LocalServer(this, (message) => void transport.send(message));
    const { signal } = new AbortController();
    transport.onmessage = async (message: { id?: unknown }) => {
      const answer = await server.hear(message as never, signal);
      if (message.id !== undefined) await transport.send(answer);
    };
    this.#transport = transport;
    await transport.start();
  }

  async close(): Promise<void> {
    const transport = this.#transport;
    this.#transport = undefined;
    await transport?.close();
  }

  #add(tool: AnyToolDefinition): RegisteredTool {
    const tools = this.#tools;
    let { name } = tool;
    if (tools.has(name))
      throw fault("usage", { reason: `The server ${this.name} has two tools called ${name}.` });
    tools.set(name, tool);
    const change = (changes: object): void => {
      const known = tools.get(name);
      if (known) tools.set(name, { ...known, ...changes });
    };
    return {
      get enabled() {
        return tools.has(name) && !tools.get(name)?.isOff;
      },
      enable: () => change({ isOff: false }),
      disable: () => change({ isOff: true }),
      remove: () => void tools.delete(name),
      update(changes) {
        const known = tools.get(name) ?? tool;
        tools.delete(name);
        name = changes.name ?? name;
        if (changes.name !== null) tools.set(name, { ...known, ...changes, name });
      },
    };
  }
}
