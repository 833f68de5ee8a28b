/** A server over a WebSocket: one message of JSON per frame, bounded in size, with headers of its own. */
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import type { WebSocket } from "ws";
import { fault } from "../../kernel/fault.ts";
import { maxMessageBytes } from "../limits.ts";
import { messageIn } from "./stdio.ts";

export class SocketTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #url: URL;
  readonly #headers: Readonly<Record<string, string>>;
  #socket: WebSocket | undefined;

  constructor(url: URL, { headers = {} }: { headers?: Readonly<Record<string, string>> | undefined }) {
    this.#url = url;
    this.#headers = headers;
  }

  async start(): Promise<void> {
    const { WebSocket } = await import("ws");
    const socket = new WebSocket(this.#url, ["mcp"], {
      headers: { ...this.#headers },
      maxPayload: maxMessageBytes,
      perMessageDeflate: false,
      followRedirects: false,
    });
    this.#socket = socket;
    socket.on("message", (data) => this.#take(String(data)));
    socket.on("close", () => this.onclose?.());
    await new Promise<void>((resolve, reject) => {
      socket.once("open", resolve);
      socket.once("error", reject);
    });
    socket.on("error", (error) => this.onerror?.(error));
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const socket = this.#socket;
    if (!socket || socket.readyState !== socket.OPEN)
      throw fault("mcp_unanswered", { reason: "The server is not connected." });
    await new Promise<void>((resolve, reject) => {
      socket.send(JSON.stringify(message), (error) => (error ? reject(error) : resolve()));
    });
  }

  /** A server that does not say goodbye is not waited for. */
  async close(): Promise<void> {
    this.#socket?.close();
    this.#socket?.terminate();
  }

  #take(text: string): void {
    const message = messageIn(text);
    if (message) this.onmessage?.(message);
    else this.onerror?.(fault("mcp_unanswered", { reason: "The server sent a frame that is no message." }));
  }
}
