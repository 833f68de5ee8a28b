// A client written from the document of the console wire alone: it opens the two sockets, sends its messages, hears its
// types, and keeps the last uuid for when it comes back.
import { WebSocket } from "ws";

export type ConsoleLine = { readonly type: string } & Record<string, unknown>;
type Message = { readonly uuid: string; readonly type: string } & Record<string, unknown>;

export class ConsoleClient {
  readonly lines: ConsoleLine[] = [];
  readonly messages: Message[] = [];
  readonly closed: Promise<number>;
  readonly #socket: WebSocket;
  readonly #waiting = new Set<() => void>();

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    this.closed = new Promise((resolve) => {
      socket.once("close", (code) => resolve(code));
    });
    socket.on("message", (data) => {
      const line = JSON.parse(String(data)) as ConsoleLine;
      this.lines.push(line);
      if (line.type === "sdk-message") this.messages.push(line["message"] as Message);
      for (const look of this.#waiting) look();
    });
  }

  static async open(address: string, secret: string): Promise<ConsoleClient> {
    const socket = new WebSocket(address, { headers: { authorization: `Bearer ${secret}` } });
    const client = new ConsoleClient(socket);
    await new Promise((resolve, reject) => {
      socket.once("open", resolve);
      socket.once("error", reject);
    });
    return client;
  }

  send(line: object): void {
    this.#socket.send(JSON.stringify(line));
  }

  /** The first line, from a place on, of which this holds. */
  async hear(holds: (line: ConsoleLine) => boolean, from = 0): Promise<ConsoleLine> {
    for (;;) {
      const found = this.lines.slice(from).find(holds);
      if (found) return found;
      await new Promise<void>((resolve) => {
        const look = (): void => {
          this.#waiting.delete(look);
          resolve();
        };
        this.#waiting.add(look);
      });
    }
  }

  /** The turn that the message begins, to its end. */
  async turn(content: string): Promise<Message> {
    const from = this.lines.length;
    this.send({ type: "user-message", content });
    const { message } = (await this.hear(isResult, from)) as unknown as { message: Message };
    return message;
  }

  async history(lastUuid?: string): Promise<Message[]> {
    const from = this.lines.length;
    this.send({ type: "request-history", lastUuid });
    const { messages } = await this.hear(({ type }) => type === "message-history", from);
    return messages as Message[];
  }

  close(): void {
    this.#socket.terminate();
  }
}

export const isResult = (line: ConsoleLine): boolean =>
  line.type === "sdk-message" && (line["message"] as Message).type === "result";
export const isKept = ({ type }: Message): boolean => type !== "stream_event";
