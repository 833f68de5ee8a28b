/** A server that a host carries messages to: its own process, or another one that it talks with. */
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import type { JsonObject } from "../../kernel/json.ts";
import type { McpChannel } from "../../protocol/mcp.ts";

export class ChannelTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #channel: McpChannel;

  constructor(channel: McpChannel) {
    this.#channel = channel;
  }

  async start(): Promise<void> {
    await this.#channel.open({
      message: (message) => this.onmessage?.(message as unknown as JSONRPCMessage),
      closed: () => this.onclose?.(),
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    await this.#channel.send(message as unknown as JsonObject);
  }

  async close(): Promise<void> {
    await this.#channel.close();
    this.onclose?.();
  }
}
