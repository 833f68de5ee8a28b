/** Servers that a program made with a library of its own, reached inside of this process over a transport in memory. */
import { isObject, type JsonObject } from "../../kernel/json.ts";
import type { McpChannel } from "../../protocol/mcp.ts";

/** What a server of the MCP SDK is asked for; its transports are typed by its own release of that library. */
export type McpServerLike = {
  connect(transport: never): Promise<void>;
  close(): Promise<void>;
};

/** One end of a wire, as the MCP SDK wants it. What is sent is heard after whoever sent it has gone on. */
export class MemoryTransport {
  onmessage?: (message: never) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly #hear: Parameters<McpChannel["open"]>[0];

  constructor(hear: Parameters<McpChannel["open"]>[0]) {
    this.#hear = hear;
  }

  start = async (): Promise<void> => undefined;

  async send(message: unknown): Promise<void> {
    if (isObject(message)) queueMicrotask(() => this.#hear.message(message as JsonObject));
  }

  /** To the server, whose messages have the form that its own library says. */
  deliver(message: JsonObject): void {
    queueMicrotask(() => this.onmessage?.(message as never));
  }

  async close(): Promise<void> {
    this.onclose?.();
    this.#hear.closed();
  }
}

/** A server that is here has one user at a time: its library refuses a second. */
export function channelTo(server: McpServerLike): McpChannel {
  let transport: MemoryTransport | undefined;
  return {
    async open(hear) {
      transport = new MemoryTransport(hear);
      await server.connect(transport as never);
    },
    send: async (message) => transport?.deliver(message),
    close: async () => transport?.onclose?.(),
  };
}
