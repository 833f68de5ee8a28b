/**
 * A server on the standard streams of a program: one message of JSON per line. What it writes that is no message is
 * dropped and counted as an error; a line that is too long ends the connection, since a call's answer may be lost in it.
 */
import type { Readable, Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { fault, toFault } from "../../kernel/fault.ts";
import { isObject, parseJson } from "../../kernel/json.ts";
import { lineReader } from "../../transport/lines.ts";
import { maxMessageBytes, maxNoticesPerSecond } from "../limits.ts";

/** A program that was started for us, under a guard. */
export type ServerProgram = {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly ended: Promise<string>;
  stop(): Promise<void>;
};

export type StartProgram = (request: {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}) => Promise<ServerProgram>;

export class StdioTransport implements Transport {
  /** The library tells a program by these two: one that is silent when asked for the newest revision is an older one. */
  readonly stderr = null;
  readonly pid = null;
  /** The program itself has ended. */
  hasEnded = false;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #open: () => Promise<ServerProgram>;
  readonly #waitMs = paceOf(maxNoticesPerSecond);
  #program: ServerProgram | undefined;
  #closed = false;

  constructor(open: () => Promise<ServerProgram>) {
    this.#open = open;
  }

  async start(): Promise<void> {
    const program = await this.#open();
    this.#program = program;
    if (this.#closed) return program.stop();
    void this.#read(program);
    void program.ended.then((how) => {
      this.hasEnded = true;
      this.#end(fault("mcp_unanswered", { reason: `The server ended (${how}).` }));
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#program?.stdin;
    if (!stdin || this.#closed || !stdin.writable)
      throw fault("mcp_unanswered", { reason: "The server is not connected." });
    await new Promise<void>((resolve, reject) => {
      stdin.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()));
    });
  }

  async close(): Promise<void> {
    this.#end();
    await this.#program?.stop();
  }

  async #read({ stdout }: ServerProgram): Promise<void> {
    const reader = lineReader({ maxBytes: maxMessageBytes });
    try {
      for await (const chunk of stdout) {
        for (const read of reader.push(chunk as Uint8Array)) {
          if (this.#closed) return;
          if (read.ok) await this.#take(read.line);
          else if (read.fault.code === "line_too_long") return this.#end(tooLong());
          else this.onerror?.(read.fault);
        }
      }
    } catch (thrown) {
      // A pipe that breaks ends the program too; that is told once.
      this.onerror?.(toFault(thrown));
    }
    this.#end(fault("mcp_unanswered", { reason: "The server closed its output." }));
  }

  async #take(line: string): Promise<void> {
    if (line.trim() === "") return;
    const message = messageIn(line);
    if (!message)
      return this.onerror?.(
        fault("mcp_unanswered", { reason: "The server wrote a line that is no message." }),
      );
    this.onmessage?.(message);
    // Whoever floods is read slowly: the pipe fills and makes them wait.
    const waitMs = "id" in message ? 0 : this.#waitMs();
    if (waitMs > 0) await pause(waitMs);
  }

  #end(why?: Error): void {
    if (this.#closed) return;
    this.#closed = true;
    if (why) this.onerror?.(why);
    void this.#program?.stop();
    this.onclose?.();
  }
}

/** Undefined for what is no message. `__proto__` is a key like any other: `JSON.parse` makes it an own one. */
export function messageIn(text: string): JSONRPCMessage | undefined {
  const value: unknown = parseJson(text);
  return isObject(value) && value["jsonrpc"] === "2.0" ? (value as unknown as JSONRPCMessage) : undefined;
}

const tooLong = (): Error => fault("line_too_long", { limit: maxMessageBytes });

/** How long to wait before one more is taken: so many in a second, then none until the next one begins. */
function paceOf(most: number): () => number {
  let second = 0;
  let taken = 0;
  return () => {
    const nowMs = performance.now();
    taken = Math.floor(nowMs / 1_000) === second ? taken + 1 : 1;
    second = Math.floor(nowMs / 1_000);
    return taken <= most ? 0 : 1_000 - (nowMs % 1_000);
  };
}
